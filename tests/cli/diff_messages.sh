# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Runs that cannot be compared are refused with a reason, and never end with 0 by accident.
. "$CASES/run.inc"
. "$CASES/import_trace.inc"
trace_of 60 3 >trace.json
trainprof import -q -o good trace.json >/dev/null
trainprof report --json -o good.json good
sed 's,trainprof-report/1.1,trainprof-report/2.0,' good.json >later.json
head -n 100 good.json >cut.json
sed 's/"value": 10000000,/"value": NaN,/' good.json >nan.json
sed 's/"value": 10000000,/"value": -1,/' good.json >negative.json
echo '{ "facts": {} }' >facts.json
sed '/"step.time_ns"/,/}/s/"value": 10000000,/"value": null, "missing": "not seen",/' good.json >lacks.json
for new in later cut nan negative facts gone; do
	trainprof diff good.json $new.json
	said $?
done
# A number that one side does not have is unknown.
trainprof diff --gate good.json lacks.json | head -4
trainprof diff --gate good.json lacks.json >page
said $?
trainprof diff
said $?
trainprof diff --new good good
said $?
trainprof diff --ignore=machin good good
said $?
trainprof diff --gate=3 good good
said $?
trainprof diff --paired --base good --base good --new good
said $?
trainprof diff -o /dev/full good good
said $?
trainprof diff good good >/dev/full
said $?
# A report is judged already.
trainprof diff --steps=none good.json good.json
said $?
run_of 2 '' good.json >second.json
for option in --steps=none --skip=2 --redact=hosts; do
	trainprof diff $option good.json second.json
	said $?
done
trainprof diff --skip=2 good second.json >page
said $?
