# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A baseline that is saved repeatedly keeps its history; the commit that made it slower is named.
. "$CASES/run.inc"
. "$CASES/import_trace.inc"
trace_of 60 3 >trace.json
trainprof import -q -o good trace.json >/dev/null
trainprof report --json -o fast.json good
sed 's/"value": 10000000,/"value": 13000000,/' fast.json >slow.json
git init -q . 2>/dev/null
night() { # night REPORT DAY: a commit on that day, and a save
	GIT_COMMITTER_DATE="2026-01-0$2T00:00:00Z" GIT_AUTHOR_DATE="2026-01-0$2T00:00:00Z" \
		git -c user.name=a -c user.email=a@localhost commit -q --allow-empty -m "day $2"
	trainprof -q baseline save --reason=nightly nightly "$1"
}
ask() {
	trainprof check --history "$@" >said.txt
	status=$?
	sed 's/([0-9-]*)/(DATE)/g' said.txt
	said $status
}
night fast.json 1
ask --baseline=nightly
for day in 2 3 4 5; do night fast.json $day; done
ask --baseline=nightly
night slow.json 6
ask --baseline=nightly
ask --baseline=nightly --inconclusive=pass
night slow.json 7
ask --baseline=nightly
trainprof check --history --json --baseline=nightly | grep -v saved_at
trainprof check --history --markdown --baseline=nightly >said.txt
said $?
sed 's/([0-9-]*)/(DATE)/g; s/[0-9a-f]\{8\}/COMMIT/g' said.txt
echo '{ "schema": "trainprof-budget/1.0", "assert": {} }' >trainprof.budget.json
ask
ask --baseline=none
rm .trainprof/baselines/nightly/history.json
ask --baseline=nightly
echo '{ "schema": "trainprof-baseline-history/1.0", "saves": [ { "step_ns": [0] } ] }' >.trainprof/baselines/nightly/history.json
ask --baseline=nightly
