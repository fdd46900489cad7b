# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# JSON of diff, compare, check and try satisfies the shipped schemas, as checked by another program, and
# what a schema has to refuse is refused.
. "$CASES/try.inc"
. "$CASES/import_trace.inc"
python3=/usr/bin/python3
$python3 -c 'import jsonschema' 2>/dev/null || { echo 'python3-jsonschema is missing' >&2; exit 77; }
cat >check.py <<'END'
import copy, glob, json, jsonschema, os, sys
docs = sys.argv[1]
schemas = {os.path.basename(path): json.load(open(path)) for path in glob.glob(docs + "/*.schema.json")}
def errors(name, document):
    schema = schemas[name + ".schema.json"]
    jsonschema.Draft202012Validator.check_schema(schema)
    resolver = jsonschema.RefResolver.from_schema(schema, store=schemas)
    return [e.message for e in jsonschema.Draft202012Validator(schema, resolver=resolver).iter_errors(document)]
def set_at(document, path, value):
    changed = copy.deepcopy(document)
    at = changed
    for key in path[:-1]:
        at = at[key]
    if value is None:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return changed
for path in sys.argv[2:]:
    kind = os.path.basename(path).split(".")[0]
    document = json.load(open(path))
    print(os.path.basename(path), errors(kind, document) or "valid")
    # Each required member of the top, and one that nobody knows.
    for name in schemas[kind + ".schema.json"]["required"]:
        assert errors(kind, set_at(document, [name], None)), (path, name)
    assert errors(kind, set_at(document, ["surprise"], 1)), path
tried = json.load(open("trials.loader.json"))
assert errors("trials", set_at(tried, ["trials", 0, "because"], None)), "not tried needs a reason"
checked = json.load(open("check.fails.json"))
assert errors("check", set_at(checked, ["assertions", 0, "is_measured"], False)), "not measured is no answer"
END
trace_of 60 3 >trace.json
trainprof import -q -o good trace.json >/dev/null
trainprof report --json -o r1.json good
sed 's/"value": 10000000,/"value": 13000000,/' r1.json >slow.json
mkdir out
trainprof diff --json --gate r1.json slow.json >out/diff.gate.json
trainprof diff --json --ignore=workload r1.json good >out/diff.recording.json
trainprof compare --json --warmup=0 -o c1 -- true 'exit 7' >out/pairs.failed.json
trainprof compare --json --warmup=0 -o c2 -- 'kill -KILL $$' 'kill -KILL $$' >out/pairs.killed.json
trainprof compare --json --warmup=0 --pairs=3 -o c3 -- 'sleep 0.1' 'sleep 0.1' >out/pairs.whole.json
trainprof compare -q --json --warmup=0 --time=0s -o c0 -- 'sleep 0.1' 'sleep 0.1' >out/pairs.one.json
echo '{ "schema": "trainprof-budget/1.0", "assert": {
"step.time_ns": { "level": "error", "max": "12 ms", "note": "agreed" },
"loader.workers": { "level": "warn", "min": 1 } } }' >trainprof.budget.json
trainprof check --json slow.json >out/check.fails.json
trainprof check --json r1.json >out/check.unknown.json
echo '{ "schema": "trainprof-budget/1.0", "assert": {
"run.duration_ns": { "level": "error", "max_worse_ratio": 2 } } }' >trainprof.budget.json
trainprof check --json --pairs=3 -o k1 --base='sleep 0.1' -- 'sleep 0.1' >out/check.pairs.json
trainprof check --json --pairs=3 -o k2 --base=true -- 'exit 7' >out/check.failed.json
for day in 1 2 3 4 5 6 7; do
	report=r1.json
	[ $day -gt 5 ] && report=slow.json
	trainprof -q baseline save --reason=nightly nightly $report
	[ $day != 3 ] || trainprof check --history --json --baseline=nightly >out/history.short.json
done
trainprof check --history --json --baseline=nightly >out/history.slower.json
rule waits ', "example": "FAIL=1 %COMMAND", "apply": true'
rule code ''
rule workers ', "apply": {"num_workers": "2"}'
run -o plain -- ./program
trainprof try --rules=mine -q --pairs=3 --warmup=0 -o t1 --json plain host/waits >out/trials.failed.json
trainprof try --rules=mine -q --pairs=3 --warmup=0 -o t2 --json plain host/code >out/trials.code.json
trainprof try --rules=mine -q --pairs=3 --warmup=0 -o t3 --json plain host/workers >trials.loader.json
cp trials.loader.json out/trials.loader.json
cp out/check.fails.json .
$python3 check.py "$CASES/../../docs" out/* 2>&1 | grep -v Deprecat
