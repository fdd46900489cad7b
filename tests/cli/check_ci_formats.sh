# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What check writes for CI systems fits what they read (tests/ci/contracts), also with names that have to
# be escaped.
. "$CASES/run.inc"
. "$CASES/import_trace.inc"
python3=/usr/bin/python3
$python3 -c 'import jsonschema' 2>/dev/null || { echo 'python3-jsonschema is missing' >&2; exit 77; }
command -v xmllint >/dev/null || { echo 'xmllint is missing' >&2; exit 77; }
contracts=$CASES/../ci/contracts
cat >fits.py <<'END'
import json, jsonschema, sys, xml.etree.ElementTree as tree
contracts, directory = sys.argv[1:]
for kind, file in (("sarif", "s.json"), ("codequality", "g.json")):
    schema = json.load(open(f"{contracts}/{kind}.schema.json"))
    document = json.load(open(f"{directory}/{file}"))
    found = [e.message for e in jsonschema.Draft202012Validator(schema).iter_errors(document)]
    print(directory, kind, found or "fits")
issues = json.load(open(f"{directory}/g.json"))
assert len({i["fingerprint"] for i in issues}) == len(issues), "one fingerprint for each problem"
uri = json.load(open(f"{directory}/s.json"))["runs"][0]["results"][0]["locations"][0]
print(uri["physicalLocation"]["artifactLocation"]["uri"], issues[0]["location"]["path"])
suite = tree.parse(f"{directory}/j.xml").getroot()[0]
for attribute, tag in (("failures", "failure"), ("skipped", "skipped")):
    assert int(suite.attrib[attribute]) == sum(c.find(tag) is not None for c in suite), attribute
assert int(suite.attrib["tests"]) == len(suite)

# Annotations, as GitHub's runner reads them: ::COMMAND KEY=VALUE,KEY=VALUE::TEXT
def decode(text, codes):
    for code in codes:  # the percent sign comes last
        text = text.replace(code, chr(int(code[1:], 16)))
    return text
annotations = []
for line in open(f"{directory}/page", encoding="utf-8"):
    if line.startswith("::"):
        head, _, text = line.rstrip("\n")[2:].partition("::")
        command, _, rest = head.partition(" ")
        values = {key: decode(value, ("%0D", "%0A", "%3A", "%2C", "%25")) for key, _, value in (pair.partition("=") for pair in rest.split(","))}
        severity = {"error": "major", "warning": "minor"}[command]
        annotations.append((severity, values.pop("title"), decode(text, ("%0D", "%0A", "%25"))))
        assert not values, values
wanted = [(i["severity"], "trainprof " + i["check_name"], i["description"].partition(": ")[2]) for i in issues]
assert sorted(annotations) == sorted(wanted), (annotations, wanted)
print("github", len(annotations), "annotations say what GitLab's issues say")
END
trace_of 60 3 >trace.json
trainprof import -q -o good trace.json >/dev/null
trainprof report --json -o r1.json good
sed 's/"value": 10000000,/"value": 13000000,/' r1.json >slow.json
budget='{ "schema": "trainprof-budget/1.0", "assert": {
"step.time_ns": { "level": "error", "max": "12 ms", "note": "<&\"% ä" },
"step.dataloader_ratio": { "level": "warn", "max": "20 %" },
"loader.workers": { "level": "error", "min": 1 },
"finding:input/*": { "level": "error", "max_count": 9 } } }'
for directory in plain 'a & <b> 100% ä'; do
	mkdir "$directory"
	echo "$budget" >"$directory/trainprof.budget.json"
	trainprof check --github --budget="$directory/trainprof.budget.json" --junit="$directory/j.xml" \
		--gitlab="$directory/g.json" --sarif="$directory/s.json" slow.json >"$directory/page"
	said $?
	$python3 fits.py "$contracts" "$directory"
	xmllint --noout --schema "$contracts/junit.xsd" "$directory/j.xml" 2>&1
done
