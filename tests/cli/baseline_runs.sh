# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Reports are saved, found from subfolders, compared with, replaced only with a reason, and never
# partly.
. "$CASES/run.inc"
. "$CASES/import_trace.inc"
trace_of 60 3 >trace.json
trainprof import -q -o good trace.json >/dev/null
trainprof report --json -o r1.json good
for i in 2 3; do
	run_of $i "s/\"value\": 10000000,/\"value\": 1000${i}000,/" r1.json >r$i.json
done
sed 's/"value": 10000000,/"value": 10600000,/' r1.json >slow.json
# shape: without parts that change from day to day, and without verdicts
shape() {
	sed -E 's/saved [0-9TZ:-]+Z/saved TODAY/; s/, commit [0-9a-f]{12}//; s/ per step, .*/ per step/'
}
trainprof baseline save main r1.json r2.json r3.json
said $?
ls .trainprof/baselines/main
trainprof baseline list | shape
trainprof baseline show main | shape
mkdir -p deep/er
(cd deep/er && trainprof baseline path main && trainprof diff --gate main ../../slow.json | sed -n '1,3p')
trainprof diff -q --gate main slow.json >page
said $?
trainprof diff -q --gate main r2.json >page
said $?
# Replaced only with a reason.
trainprof baseline save main r1.json
said $?
trainprof baseline save -q --reason='fewer runs' main r1.json
said $?
trainprof baseline list | shape
# A failed save leaves the old files.
(ulimit -f 8 && trap '' XFSZ && trainprof baseline save -q --reason=big main good) 2>message
said $?
sed -E 's/new-[0-9]+/new/; s/\.[^.:]*\x27/\x27/' message
trainprof baseline list | shape
ls .trainprof/baselines
# Damaged and foreign ones.
cp -r .trainprof/baselines/main .trainprof/baselines/other
sed 's,trainprof-baseline/1.0,trainprof-baseline/9.0,' .trainprof/baselines/main/baseline.json >.trainprof/baselines/other/baseline.json
trainprof diff other r1.json
said $?
echo '{ "schema": "trainprof-baseline/1.0", "runs": [] }' >.trainprof/baselines/other/baseline.json
trainprof diff other r1.json
said $?
echo '{ "schema": "trainprof-baseline/1.0", "runs": ["../../r1.json"] }' >.trainprof/baselines/other/baseline.json
trainprof diff other r1.json
said $?
head -n 60 r1.json >.trainprof/baselines/main/run-1.json
trainprof diff main r1.json
said $?
rm -r .trainprof/baselines/other
# A copy is no second run.
trainprof baseline save twice r2.json r2.json
said $?
# One that is stored already counts once, so that the gate still answers.
trainprof baseline save -q old r1.json r2.json
cp .trainprof/baselines/old/run-1.json .trainprof/baselines/old/run-2.json
trainprof diff --gate old slow.json | grep -o '^1 run against 1'
trainprof baseline show old | shape
trainprof diff --base old --base r1.json --new slow.json
said $?
trainprof baseline remove old
# Reports whose step is zero or a text are none.
for value in 0 '"10000000"'; do
	sed "s/\"value\": 10000000,/\"value\": $value,/" r1.json >odd.json
	trainprof baseline save odd odd.json
	said $?
done
# Names.
trainprof baseline show mian
said $?
trainprof baseline save ../main r1.json
said $?
trainprof baseline sav main
said $?
trainprof baseline show
said $?
trainprof baseline save
said $?
trainprof baseline list main
said $?
trainprof baseline
said $?
trainprof baseline remove main
said $?
trainprof baseline list
# Options of another verb.
trainprof baseline list --reason=none
said $?
trainprof baseline path --json old
said $?
trainprof baseline save --json new r1.json
said $?
# Runs of two programs are not one baseline.
run_of 9 's/"mode": "import"/"mode": "run"/' r1.json >run.json
trainprof baseline save mixed r1.json run.json
said $?
trainprof baseline save -q --force mixed r1.json run.json
said $?
TRAINPROF_BASELINES=elsewhere trainprof baseline save there r1.json
ls elsewhere
# A report was judged before: what should be removed from it would stay.
trainprof baseline save --redact=all secret r1.json
said $?
trainprof baseline save --steps=auto plain r1.json
said $?
# A budget with a misspelt name of a baseline.
echo '{ "schema": "trainprof-budget/1.0", "baseline": { "name": "mixd" }, "assert": {
"step.time_ns": { "max_worse_ratio": 0.1 } } }' >trainprof.budget.json
trainprof check r1.json
said $?
