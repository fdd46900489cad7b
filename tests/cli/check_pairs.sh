# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Pairs are measured and then checked; a program that fails, or half of the options, is no pass.
. "$CASES/run.inc"
echo '{ "schema": "trainprof-budget/1.0", "assert": { "run.duration_ns": { "level": "error", "max": "3600 s" } } }' \
	>trainprof.budget.json
trainprof check -q --pairs=3 --warmup=0 -o pairs --base=true -- true | sed 's/duration_ns .*,/duration_ns …,/'
said $?
trainprof check -q --pairs=3 --warmup=0 -o more --json --base=true -- sh -c 'exit 0' >page
said $?
grep -E '"(A|B|pairs)":|exit_status' page
trainprof check -q --pairs=3 -o fails --json --base=true -- sh -c 'exit 7'
said $?
trainprof check --pairs=3
said $?
trainprof check --pairs=2 --base=true -- true
said $?
trainprof check --base=true
said $?
trainprof check -q --base=true -o pairs -- true
said $?
# Options that would have no effect are refused.
trainprof check -q --base=true --ignore=machine -- true
said $?
trainprof check -q --base=true --baseline=main -- true
said $?
trainprof check -q --output=elsewhere run
said $?
trainprof check --history --junit=tests.xml
said $?
for option in --margin=7% --time=5m --warmup=2; do
	trainprof check $option run
	said $?
	trainprof check --history $option
	said $?
done
for option in --steps=none --skip=3 --rank=1 --rules=. --redact=all --lenient; do
	trainprof check -q --base=true $option -- true
	said $?
	trainprof check --history $option
	said $?
done
trainprof check --history run
said $?
# Settings are for the checks that they concern.
echo '{ "check": { "margin": "7%", "warmup": 2 } }' >trainprof.json
trainprof check absent
said $?
