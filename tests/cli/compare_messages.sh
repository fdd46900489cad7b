# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A failing program of a pair ends it with 4, and its status is printed; misuse is 2.
. "$CASES/run.inc"
trainprof compare -o failed --json -- 'true' 'echo what it printed; exit 7'
said $?
cat failed/warmup1-B.log
trainprof compare -o killed --json -- 'kill -KILL $$' 'kill -KILL $$' | grep -A3 '"failed"' | grep -v side
trainprof compare -o failed -- true true
said $?
trainprof compare true
said $?
trainprof compare a b c
said $?
trainprof compare --pairs=2 a b
said $?
trainprof compare --pairs=0 a b
said $?
trainprof compare --margin=3 a b
said $?
# Series that start in the same second each have a folder.
for _ in 1 2 3; do trainprof compare -q -- false true 2>/dev/null; done
ls -d .trainprof/*-compare* | wc -l
# One pair says nothing, whatever it measured.
trainprof compare -q --time=0s --warmup=0 -- true true >page
said $?
grep -o '^UNDECIDED' page
trainprof compare -q --time=0s --warmup=0 --json -- 'sleep 0.3' true >page
grep -c '"is_unfinished": true' page
grep -c '"is_sure": true' page
# The last recording stays what it was.
run -o mine -- true
trainprof compare -q --time=0s --warmup=0 -- true true >page
said $?
trainprof try
said $?
trainprof report --json | grep -A1 '"command": \['
