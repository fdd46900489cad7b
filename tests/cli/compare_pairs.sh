# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Two programs that differ, two that do not, the end of the time, and Ctrl-C: the verdict so far.
. "$CASES/run.inc"
trainprof compare -q --pairs=3 -o apart -- 'sleep 0.1' 'sleep 0.4' >page
said $?
sed -n '4s/ .*//p' page
trainprof compare -q --pairs=3 -o apart-json --json -- 'sleep 0.1' 'sleep 0.4' | grep -E '"(pairs|verdict)"'
# One pair is left if the time is over at once, whatever disturbed it.
trainprof compare -q --pairs=9 --time=1s --warmup=1 -o late --json -- 'sleep 0.7' 'sleep 0.7' | grep -E '"(pairs|is_interrupted|verdict)"'
trainprof compare -q --pairs=100 -o long -- 'sleep 0.1' 'sleep 0.1' >page &
# Five pairs at most are repeated.
until_true test -d long/pair7-A
kill -INT $!
wait $!
said $?
grep -o 'Interrupted' page
