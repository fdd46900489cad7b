# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A job of several ranks is one run, as a folder or as its report. What runs may differ in is asked for.
. "$CASES/run.inc"
cp -r "$CASES/../../docs/tutorial/recorded/job" job
trainprof report --json -o job.json job
# budget ASSERTIONS
budget() {
	printf '{ "schema": "trainprof-budget/1.0", "baseline": {"file": "job.json"}, "assert": {\n%s } }\n' "$1" >trainprof.budget.json
}
budget '"step.time_ns": { "level": "error", "max_worse_ratio": 0.2 },
"step.dataloader_ratio": { "level": "error", "max": "5 %" },
"finding:communication/*": { "level": "warn", "max_count": 0 },
"finding:idiom/*": { "level": "warn", "max_count": 1 }'
trainprof check job
said $?
trainprof check --json job.json >report
said $?
trainprof check --json job >folder
said $?
sed -i 's/job\.json/job/g' report folder
cmp report folder && echo 'the report and the folder give the same answers'
trainprof diff job.json job | sed -n '1,12p'
# Only the job's own values, and never a pass of what is unknown.
budget '"loader.workers": { "level": "error", "equal_baseline": true }'
trainprof check job
said $?
# A rank is no job.
budget '"step.time_ns": { "level": "error", "max_worse_ratio": 0.2 }'
trainprof check job/rank-0
said $?
trainprof check --ignore=workload job/rank-0
said $?
trainprof check --ignore=worklaod job
said $?
trainprof baseline save main job
said $?
trainprof diff --gate main job | sed -n '/^Gate/p'
# The answer is printed before a file that cannot be written.
budget '"step.dataloader_ratio": { "level": "error", "max": "5 %" }'
trainprof check --junit=/dev/full job
said $?
# Without a word it is the last run here, which was this job.
ln -s job trainprof-last
trainprof check
said $?
# Runs that are only in the same folder are no job.
mkdir series
for run in 1 2; do
	trainprof run -q --summary=none -o series/$run -- true
done
trainprof check series
said $?
