# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The plan for a run, step by step: from facts and from a recording, the same in all three formats.
. "$CASES/run.inc"
. "$CASES/import_trace.inc"
python3=/usr/bin/python3
[ -x $python3 ] || { echo 'python3 is missing' >&2; exit 77; }
# Each batch is read by a loader that waits for the disk, then copied from pageable memory.
# Calculated by hand: 45 of 100 ms are reads, 10 copies, 40 compute; without both 45 ms of 100
# remain, or 2.22.
cat >facts.json <<'END'
{
  "name": "two causes",
  "facts": {
    "step.count": 1000,
    "step.time_ns": "100ms",
    "step.dataloader_ratio": "45%",
    "step.dataloader_fetch_ratio": "45%",
    "step.compute_ratio": "40%",
    "step.memory_ratio": "10%",
    "step.memory_copy_h2d_ratio": "10%",
    "step.host_ratio": "5%",
    "step.idle_ratio": 0,
    "loader.workers": 4,
    "loader.read_wait_ratio": "80%",
    "loader.busy_ratio": "10%",
    "io.device_read_bytes_per_s": "500MB/s",
    "io.call_read_bytes_per_s": "510MB/s",
    "io.cached_ratio": "2%",
    "io.disk_busy_ratio": "98%",
    "device.count": 1,
    "device.busy_ratio": "50%",
    "device.pageable_ratio": "100%",
    "device.h2d_bytes_per_s": "3GB/s",
    "env.uses_pytorch": true
  }
}
END
# Figures of other sources change with the guide, and the number of rules without facts with the
# rules.
trainprof guide --plan facts.json >text
said $?
sed -e 's/^\(   missing\) [0-9]* rules/\1 N rules/' -e '/^   missing/q' text
trainprof guide --plan --width=44 facts.json | awk 'length($0) > 44'
trainprof guide --plan --json facts.json >plan.json
said $?
trainprof guide --plan --json - <facts.json | cmp - plan.json && echo "stdin says the same"
trainprof guide --plan --markdown facts.json >plan.md
said $?
trace_of 60 6 >trace.json
trainprof import -q -o prof trace.json >/dev/null
trainprof guide --plan prof | sed -n '1,/^   then/p'
trainprof guide --plan --json prof >recorded.json
cat >check.py <<'END'
import json, math, sys
schema_of, plans = sys.argv[1], sys.argv[2:]
for name in plans:
    plan = json.load(open(name))
    before = None
    # What is sure first; then in the order of diagnosis; what is small beside the largest comes behind.
    # (Of a step of several rules the largest of their gains decides; its own is no smaller.)
    gains = [math.log(step["gain"]["speedup"]) if step["gain"] else 99 for step in plan["steps"]]
    small = [gain < 0.33 * max([g for g in gains if g < 99] + [0]) for gain in gains]
    words = ("sure", "likely", "worth a try")
    sure = [min(words.index(a["how_sure"]) for a in step["advice"]) for step in plan["steps"]]
    orders = [(w, s, step["order"]) for w, s, step in zip(sure, small, plan["steps"])]
    assert orders == sorted(orders), orders
    for step in plan["steps"]:
        so_far = step["so_far"]
        if so_far and before:
            assert all(a >= b * (1 - 1e-9) for a, b in zip(so_far["bracket"], before)), name
            assert step["adds"] == (so_far["bracket"] != before), name
        before = so_far["bracket"] if so_far else before
        for bound in (step["gain"], so_far):
            assert not bound or bound["bracket"][0] <= bound["speedup"] <= bound["bracket"][1]
        for target in step["targets"]:
            assert 0 <= target["after"][0] <= target["after"][1] <= target["now"]
    try:
        import jsonschema
    except ImportError:
        continue
    schema = json.load(open(schema_of))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(plan)
plan = json.load(open(plans[0]))
for shown in ("text", "plan.md"):
    said = " ".join(open(shown).read().replace("\\", "").split())
    for step in plan["steps"]:
        low, high = step["so_far"]["bracket"]
        words = {"compute": "compute", "dataloader": "data loading"}
        bound = f"up to {high:.2f}×" if step["so_far"]["kind"] == "bound" else f"{low:.2f}–{high:.2f}×"
        wanted = [words[step["then_limit"]] + " limits", bound]
        wanted += [a["how_sure"] for a in step["advice"][:1]]
        wanted += [t["fact"] for t in step["targets"]] + [d["text"] for d in step["do"]]
        wanted += [a[k] for a in step["advice"] for k in ("headline", "because", "price", "verify")]
        for text in wanted:
            assert text in said, (shown, text)
last = plan["steps"][-1]["so_far"]["bracket"]
assert all(len(line) <= 80 for line in open("texts", encoding="utf-8").read().split("\n"))
print(len(plans), "plans hold")
print(len(plan["steps"]), "steps agree; together %.2f to %.2f" % tuple(last))
END
# Published cases and healthy runs: their plans are valid, too, and fit.
mkdir plans
for case in "$CASES"/../cases/*.json; do
	trainprof guide --plan --json "$case" >"plans/$(basename "$case")" || echo "$case: status $?"
	trainprof guide --plan "$case"
done >texts
$python3 check.py "$CASES/../../docs/plan.schema.json" plan.json recorded.json plans/*.json
# Without facts, without a file, and with something that is no run.
echo '{ "facts": {} }' >empty.json
trainprof guide --plan empty.json | sed -n '3,4p'
trainprof guide --plan --json empty.json >empty.plan
said $?
trainprof report --json prof >report.json
for run in gone trace.json report.json; do
	trainprof guide --plan $run
	said $?
done
