# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Two programs that differ, two that do not, and Ctrl-C: the verdict so far.
. "$CASES/run.inc"
trainprof compare -q --pairs=3 -o apart -- 'sleep 0.1' 'sleep 0.4' >page
said $?
sed -n '4s/ .*//p' page
trainprof compare -q --pairs=3 -o apart-json --json -- 'sleep 0.1' 'sleep 0.4' | grep -E '"(pairs|verdict)"'
trainprof compare -q --pairs=100 -o long -- 'sleep 0.1' 'sleep 0.1' >page &
until_true test -d long/pair5-A
kill -INT $!
wait $!
said $?
grep -o 'Interrupted' page
