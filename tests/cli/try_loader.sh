# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Settings of a loader that cannot be tried: the reason is that of the program. Nothing is compared then.
. "$CASES/try.inc"
rule workers ', "apply": {"num_workers": "1 + 1", "persistent_workers": "1"}'
export PYTHONPATH="$CASES/../doubles" PYTHONDONTWRITEBYTECODE=1
cat >stream.py <<'END'
import time
from torch.utils.data import DataLoader, IterableDataset
class Stream(IterableDataset): pass
DataLoader(Stream(), num_workers=1)
time.sleep(2.5)
END
echo 'import time; time.sleep(2.5)' >none.py
for program in stream none; do
	run -o $program -- python3 $program.py
	trainprof try --rules=mine -q --pairs=3 --warmup=0 -o $program.tried --json $program host/workers >page.json
	said $?
	grep -E '"(state|because|loader|lines|measured)"' page.json
	ls $program.tried/*/loader.log 2>/dev/null | wc -l
done
trainprof explain --rules=mine stream host/workers | grep 'measure it'
trainprof try --rules=mine --budget=1m stream host/workers
said $?
trainprof try --rules=mine --all --budget=3s -q -o short none >page
said $?
grep -A1 workers page
rule workers ', "apply": {"batch_size": "2"}'
trainprof try --rules=mine stream
said $?
rule workers ', "apply": {"num_workers": "step.time_ns"}'
trainprof try --rules=mine stream
said $?
