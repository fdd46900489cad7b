# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# trainprof runs out of memory while the program runs: the program is not affected.
. "$CASES/run.inc"
command -v prlimit >/dev/null || { echo 'prlimit is missing' >&2; exit 77; }
# Each process that stays costs trainprof memory, so that it runs out while the program runs.
# shellcheck disable=SC2016 # words of the inner shell
program='echo on >on; n=0 pids=
while [ ! -s err ] && [ $n -lt 2000 ]; do sleep 300 & pids="$pids $!" n=$((n + 1)); /bin/true; done
kill $pids; echo finished; exit 6'
trainprof run -q --summary=none -o prof -- sh -c "$program" 2>err &
wait_for on
prlimit --pid $! --as=1000000
wait $!
status=$?
grep -q 'trainprof: out of memory' err || { echo 'trainprof needed no more memory' >&2; exit 77; }
said $status
sed 's/: [0-9]* bytes/: N bytes/' err
