# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Two runs next to each other: if both wait for data there is a warning.
. "$CASES/run.inc"
. "$CASES/import_trace.inc"
for late in 2 3 6; do
	trace_of 60 $late >trace.json
	trainprof import -q -o waits$late trace.json >/dev/null
done
echo '{ "name": "by hand", "facts": { "step.dataloader_ratio": "35%" } }' >facts.json
# 60 and 30 % of each step, by construction.
trainprof guide --plan waits6 waits3
said $?
trainprof guide --plan waits6 facts.json | tail -6
# 20 % is not more than a fifth.
trainprof guide --plan waits6 waits2 >page
said $?
tail -1 page
trainprof guide --plan --markdown waits6 facts.json
trainprof guide --plan --json waits6 facts.json | tr -d ' \n' | cut -c1-200
echo
trainprof guide --plan --width=44 waits6 facts.json | awk 'length($0) > 44'
echo '{ "facts": {} }' >empty.json
trainprof guide --plan waits6 empty.json >page
said $?
tail -1 page
trainprof guide --plan waits6 gone
said $?
trainprof guide --plan waits6 waits3 facts.json
said $?
