# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Advice that helps, advice that breaks the program, and both tried in turn.
. "$CASES/try.inc"
rule waits ', "example": "FAST=1 %COMMAND", "apply": true'
rule fails ', "example": "FAIL=1 %COMMAND", "apply": true'
run -o plain -- ./program
trainprof try --rules=mine -q --pairs=3 --warmup=0 -o one plain host/waits | sed 's/measured .* in/measured in/; s/promised .*,/promised,/'
said $?
trainprof try --rules=mine -q --pairs=3 --warmup=0 -o two --json plain host/fails | grep -E '"(state|because)"'
trainprof try --rules=mine -q --pairs=3 --warmup=0 -o three --all plain >page
said $?
grep -c 'Wait less' page
