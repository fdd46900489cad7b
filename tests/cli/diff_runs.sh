# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Differences between runs, from traces with known times.
. "$CASES/run.inc"
. "$CASES/import_trace.inc"
for late in 1 3 6; do
	trace_of 60 $late >trace.json
	trainprof import -q -o waits$late trace.json >/dev/null
done
# 60, 30 and 10 % of a step of 10 ms: the step time stays, its parts change.
trainprof diff waits6 waits1
said $?
trainprof diff waits6 waits3 | grep -A5 careful
# A report.json alone in a directory is used like its recording.
mkdir artifact
trainprof report --json -o artifact/before.json waits6
trainprof report --json -o artifact/after.json waits3
trainprof diff --json waits6 waits3 | grep -v '"name"' >by-recording
trainprof diff --json artifact/before.json artifact/after.json | grep -v '"name"' >by-report
cmp by-recording by-report && echo "the same"
# Slower, faster, and a change that one run cannot show.
sed 's/"value": 10000000,/"value": 13000000,/' artifact/after.json >artifact/slow.json
for new in after slow; do
	trainprof diff --gate artifact/after.json artifact/$new.json | sed -n '1p;/^Gate/,/^$/p'
	trainprof diff -q --gate artifact/after.json artifact/$new.json >page
	said $?
done
trainprof diff --gate=40% artifact/after.json artifact/slow.json >page
said $?
trainprof diff --gate artifact/slow.json artifact/after.json >page
said $?
# Three runs per side: the interval is theirs.
for i in 1 2 3; do
	run_of $i "s/\"value\": 10000000,/\"value\": 1000${i}000,/" artifact/after.json >artifact/b$i.json
	run_of 1$i "s/\"value\": 10000000,/\"value\": 1050${i}000,/" artifact/after.json >artifact/n$i.json
done
trainprof diff --gate --base artifact/b1.json --base artifact/b2.json --base artifact/b3.json \
	--new artifact/n1.json --new artifact/n2.json --new artifact/n3.json | head -6
# Names of many runs would fill the screen.
# shellcheck disable=SC2046 # words on purpose
trainprof diff --new waits3 $(printf -- '--base=artifact/%s.json ' b1 b2 b3 n1 n2 n3) | grep '^base'
trainprof diff --markdown waits6 waits1 | head -8
trainprof diff --width=44 waits6 waits1 | awk 'length($0) > 44'
# Of runs of two kinds neither is faster.
sed 's/"mode": "import"/"mode": "run"/' artifact/slow.json >artifact/other.json
trainprof diff --gate artifact/after.json artifact/other.json | sed -n '1,2p;/^Gate/p'
trainprof diff --ignore=workload artifact/after.json artifact/other.json | head -1
