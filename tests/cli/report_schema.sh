# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Reports of every kind of run satisfy the shipped schema, as checked by another program.
. "$CASES/run.inc"
python3=/usr/bin/python3
$python3 -c 'import jsonschema' 2>/dev/null || { echo 'python3-jsonschema is missing' >&2; exit 77; }
trainprof report --schema >schema.json
cat >check.py <<'END'
import json, jsonschema, sys
schema = json.load(open("schema.json"))
jsonschema.Draft202012Validator.check_schema(schema)
for path in sys.argv[1:]:
    report = json.load(open(path))
    jsonschema.Draft202012Validator(schema).validate(report)
    parts = report["partition"]["parts"]
    assert sum(p["time_ns"] for p in parts) == report["partition"]["total_ns"], path
    for p in parts:
        assert sum(l["time_ns"] for l in p["labels"]) == p["time_ns"], path
def undescribed(node, path=""):
    """Names of members without a description; parts of conditions only repeat members."""
    for key, value in list(node.get("properties", {}).items()) + list(node.get("$defs", {}).items()):
        if "description" not in value:
            yield f"{path}.{key}"
        yield from undescribed(value, f"{path}.{key}")
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            yield from undescribed(node[key], path)
assert not list(undescribed(schema)), list(undescribed(schema))
print("valid")
END
run -o a -- true
run -o b -- sh -c 'ulimit -c 0; kill -SEGV $$' 2>/dev/null
run -o c -- trainer --data pictures --marks phases --steps 100 >/dev/null 2>&1
run -o d --steps=none -- trainer --data pictures --marks phases --steps 50 >/dev/null 2>&1
run -o e --collect=-perf -- short_run 50 >/dev/null
$python3 check.py ?/report.json
