# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Advice that helps, advice that breaks the program, and both tried in turn.
. "$CASES/try.inc"
# flat: joins sentences that are broken at the width, without figures and numbers of advice
flat() {
	tr '\n' '~' | sed -E 's/~ {4}([a-z])/ \1/g' | tr '~' '\n' |
		sed -E 's/measured .* in 3/measured in 3/; s/promised .*, measured/promised, measured/; s/^ *[0-9]*  //'
}
rule waits ', "example": "FAST=1 %COMMAND", "apply": true'
rule fails ', "example": "FAIL=1 %COMMAND", "apply": true'
run -o plain -- ./program
trainprof try --rules=mine -q --pairs=3 --warmup=0 -o one plain host/waits | flat
said $?
trainprof try --rules=mine -q --pairs=3 --warmup=0 -o two --json plain host/fails | grep -E '"(state|because)"' | sed 's/advice[0-9]*/adviceN/'
trainprof try --rules=mine -q --pairs=3 --warmup=0 -o three --all plain >page
said $?
grep -c 'Wait less' page
# A setting of a loader: the program waits unless it has two workers.
rm mine/bottlenecks/host/*
rule workers ', "apply": {"num_workers": "2"}'
export PYTHONPATH="$CASES/../doubles" PYTHONDONTWRITEBYTECODE=1
cat >train.py <<'END'
import time
from torch.utils.data import DataLoader
if DataLoader([1]).num_workers != 2:
    time.sleep(2.5)
END
run -o loads -- python3 train.py
trainprof try --rules=mine -q --pairs=3 --warmup=0 -o four loads host/workers | flat

