# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Advice from facts written by hand; errors are reported with file and line.
python3=/usr/bin/python3
[ -x $python3 ] || { echo 'python3 is missing' >&2; exit 77; }
cat >facts.json <<'END'
{
  // RandAugment on a machine with eight CPUs a card
  "name": "RandAugment",
  "facts": {
    "step.dataloader_ratio": "55%",
    "step.compute_ratio": "45%",
    "step.dataloader_prep_ratio": "55%",
    "cpu.allowed_cpus": 8,
    "cpu.busy_ratio": "95%",
    "cpu.idle_cpus": 0.2,
    "memory.used_ratio": "40%"
  }
}
END
# The required facts change with the rules, and so does the guide's text about techniques.
trainprof advise -n 1 facts.json | sed -e 's|/.*/rules/|RULES/|' -e '/^  guide /,/^  price /{/^  price /!d;}' \
	-e '/^More advice is/q'
trainprof advise --width=44 facts.json | awk 'length($0) > 44'
trainprof advise --json facts.json >file.json
trainprof advise --json - <facts.json | cmp - file.json && echo "stdin says the same"
# The text contains the same as the JSON.
trainprof advise -n 9 facts.json >text
$python3 - <<'END'
import json, re
said = json.load(open("file.json"))
text = " ".join(open("text").read().split())
assert said["schema"] == "trainprof-advice/1.0" and said["verdict"]["sentence"] in text
advice = said["findings"][: said["advice_shown"]]
for finding in advice:
    for what in ("headline", "because", "price", "verify"):
        assert finding[what] in text, finding[what]
    low, high = finding["gain"]["bracket"]
    is_bound = finding["gain"]["kind"] == "bound"
    gain = f"up to {high:.2f}×" if is_bound else f"({low:.2f}–{high:.2f})"
    assert is_bound == (low < 1.005) and gain in text, finding["rule"]
    assert gain + ", " + finding["how_sure"] + ";" in text, finding["rule"]
assert [w["fact"] for w in said["wanted"]] == re.findall(r" ([a-z]+\.[a-z_]+) (?=\S)", text)[-len(said["wanted"]):]
print(len(advice), "pieces of advice agree")
END
# A local rule with an error is refused, or left out on request.
mkdir -p mine/bottlenecks/mine
echo '{ "id": "mine/wrong" }' >mine/bottlenecks/mine/wrong.json
trainprof advise -n 0 --rules mine facts.json
echo "status $?"
trainprof advise -n 0 --rules mine --lenient facts.json | head -1
# A template is accepted as it is and contains no facts.
trainprof advise --template >empty.json
trainprof advise empty.json >said
echo "status $?"
sed '/^More advice is/q' said
trainprof advise --template run | trainprof advise --json - >/dev/null
echo "status $?"
if $python3 -c 'import jsonschema' 2>/dev/null; then
	$python3 - "$CASES" <<'END'
import glob, json, jsonschema, sys
schema = json.load(open(sys.argv[1] + "/../../docs/facts.schema.json"))
jsonschema.Draft202012Validator.check_schema(schema)
def load(path):
    return json.loads("\n".join(l for l in open(path) if not l.lstrip().startswith("//")))
for path in ["facts.json", "empty.json"] + glob.glob(sys.argv[1] + "/../cases/*.json"):
    jsonschema.Draft202012Validator(schema).validate(load(path))
half = {"value": "5%", "low": "4%"}
for bad in ({"step.count": "5%"}, {"step.time_ns": "5 m"}, {"env.is_python": 1}, {"step.cuont": 1}, {"step.host_ratio": half}):
    assert not jsonschema.Draft202012Validator(schema).is_valid({"facts": bad}), bad
END
fi
printf '{\n "facts": {\n  "loader.wokers": 4 } }\n' >name.json
printf '{ "facts": {\n "step.time_ns": "5%%" } }\n' >unit.json
printf '{ "facts": {\n "step.host_ratio": "70%%", "step.idle_ratio": "60%%" } }\n' >sum.json
for file in name.json unit.json sum.json gone.json; do
	trainprof advise $file
	echo "status $?"
done
printf '{ "facts": ' | trainprof advise -
echo "status $?"
trainprof advise
echo "status $?"
trainprof advise --template inptu
echo "status $?"
