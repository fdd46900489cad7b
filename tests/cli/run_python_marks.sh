# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A Python program marks its steps with the module that trainprof run makes importable.
. "$CASES/run.inc"
if ! command -v python3 >/dev/null 2>&1; then
	echo 'no python3' >&2
	exit 77
fi
cat >train.py <<'END'
import os
import sys
import trainprof

@trainprof.phase
def evaluation():
    pass

for epoch in range(2):
    for batch in range(30):
        trainprof.step()
        with trainprof.phase("forward"):
            pass
    trainprof.step_end()
    evaluation()
print("marks", trainprof.marks_on(), "path", os.environ["PYTHONPATH"].split(":")[:-1])
sys.exit(3)
END
PYTHONPATH=/nonexistent/own:. trainprof run --summary=none --collect=marks -o prof -- python3 train.py
said $?
trainprof report --json prof | grep -E '"(found_by|total_count)"'
trainprof report --validate prof
ls prof
echo 'its own module comes first'
mkdir own
echo 'print("own module")' >own/trainprof.py
PYTHONPATH=own trainprof run --summary=none --collect=marks --force -o prof -- python3 -c 'import trainprof'
echo 'an isolated interpreter does not find it, and nothing else changes'
trainprof run --summary=none --collect=marks --force -o prof -- python3 -I -c 'import trainprof' 2>&1 | tail -1
echo 'nobody listens'
PYTHONPATH=$(cd "$CASES/../../src/python" && pwd) python3 train.py
said $?
