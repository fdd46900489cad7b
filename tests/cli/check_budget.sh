# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Limits hold, are exceeded, or cannot be checked; an error in a budget is never a pass.
. "$CASES/run.inc"
. "$CASES/import_trace.inc"
trace_of 60 3 >trace.json
trainprof import -q -o good trace.json >/dev/null
trainprof report --json -o r1.json good
sed 's/"value": 10000000,/"value": 13000000,/' r1.json >slow.json
# budget ASSERTIONS [MEMBERS]: a budget of these
budget() {
	echo "{ \"schema\": \"trainprof-budget/1.0\", ${2:+$2,} \"assert\": {
$1 } }" >trainprof.budget.json
}
budget '// comments may stand here
"step.time_ns": { "max": "12 ms" },
"step.dataloader_ratio": { "level": "warn", "max": "20 %", "note": "ratchet" },
"finding:input/*": { "level": "error", "max_count": 9 }'
mkdir -p deep
(cd deep && trainprof check ../r1.json)
said $?
trainprof check --github --junit=j.xml --gitlab=g.json --sarif=s.json slow.json
said $?
python3 - <<'END'
import json, xml.etree.ElementTree as tree
suite = tree.parse("j.xml").getroot()[0]
print("junit", suite.attrib, [c.attrib["name"] for c in suite if c.find("failure") is not None])
for issue in json.load(open("g.json")):
    assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}
    print("gitlab", issue["severity"], issue["location"], issue["check_name"])
run = json.load(open("s.json"))["runs"][0]
for r in run["results"]:
    print("sarif", r["level"], r["ruleId"], r["locations"][0]["physicalLocation"]["region"])
END
# A number without a unit is in the unit of the fact.
budget '"step.time_ns": { "max": 12 }'
trainprof check r1.json | head -1
# Not measured is never a pass, not even with --inconclusive=pass.
budget '"loader.workers": { "level": "error", "min": 1 }'
for how in pass warn error; do
	trainprof check --inconclusive=$how r1.json
	said $?
done
# Against a baseline: one run per side cannot show 3 %.
budget '' '"extends": "recommended", "baseline": {"file": "r1.json"}'
trainprof check r1.json | head -3
trainprof check r1.json >page
said $?
trainprof check --inconclusive=pass --json slow.json >page
said $?
budget '"step.count": { "level": "error", "equal_baseline": true }' '"baseline": {"file": "r1.json"}'
trainprof check slow.json
said $?
sed 's/"value": 60,/"value": 61,/' r1.json >more.json
trainprof check more.json
said $?
# Too few steps for a result.
budget '"step.time_ns": { "level": "error", "max": "1 s" }' '"select": {"min_steps": 1000}'
trainprof check r1.json
said $?
# Budgets with errors.
wrong() {
	trainprof check r1.json
	said $?
}
budget ''
wrong
budget '"step.time": { "level": "error", "max": 1 }'
wrong
budget '"step.time_ns": { "level": "error", "maxx": 1 }'
wrong
budget '"step.time_ns": { "level": "eror", "max": 1 }'
wrong
budget '"step.time_ns": { "level": "error", "max": "12 MiB" }'
wrong
budget '"step.time_ns": { "level": "error", "max": 1, "min": 2 }'
wrong
budget '"step.time_ns": { "level": "error", "min": -1 }'
wrong
budget '"step.time_ns": { "level": "error" }'
wrong
budget '"step.time_ns": { "level": "error", "max_worse_ratio": 0.1, "equal_baseline": true }'
wrong
budget '"step.time_ns": { "level": "error", "max_worse_ratio": 0.1 }'
wrong
budget '"step.time_ns": { "level": "error", "max_worse_ratio": 0.1 }' '"baseline": {"name": "main"}'
wrong
budget '"cpu.busy_ratio": { "level": "error", "max_worse_ratio": 0.1 }'
wrong
budget '"finding:inputs/*": { "level": "error", "max_count": 0 }'
wrong
budget '"step.time_ns": { "level": "error", "max": 1 }' '"baselin": {"name": "main"}'
wrong
echo '{ "schema": "trainprof-budget/2.0", "assert": {} }' >trainprof.budget.json
wrong
echo '{ "assert": {} }' >trainprof.budget.json
wrong
echo '{ "schema": "trainprof-budget/1.0", "assert": {' >trainprof.budget.json
wrong
rm trainprof.budget.json
wrong
