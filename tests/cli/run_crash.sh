# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# trainprof itself is killed or crashes while the program runs: the program is not affected.
. "$CASES/run.inc"
trainprof run -q --summary=none -o a -- sh -c 'echo on >a.on; until [ -e a.go ]; do sleep 0.05; done; exit 6' 2>err &
wait_for a.on
kill -SEGV $!
: >a.go
wait $!
said $?
cat err
trainprof run -q --summary=none -o b -- sh -c 'echo on >b.on; until [ -e b.go ]; do sleep 0.05; done; echo done >finished' &
wait_for b.on
kill -KILL $!
: >b.go
wait $! 2>/dev/null
said $?
wait_for finished && cat finished
trainprof report b >report
said $?
grep -o 'the exit status of .* was not recorded' report
