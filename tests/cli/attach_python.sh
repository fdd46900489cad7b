# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The line of a Python loop that runs already is reported.
. "$CASES/run.inc"
command -v python3 >/dev/null || { echo "python3 is missing" >&2; exit 77; }
cat >loop.py <<'END'
import time


def load():
    time.sleep(0.1)


def forward(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


open("ready", "w").write("1")
while True:
    load()
    forward(150000)
END
python3 loop.py &
pid=$!
wait_for ready
trainprof attach -d 6s -o prof $pid >said 2>&1
said $?
kill $pid
grep -o '^SLEEPING' said
grep -o 'Most time: loop.py:[0-9]*' said
