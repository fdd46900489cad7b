# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# doctor --cost measures a program: the figures are the machine's; we check that they add up.
export TMPDIR="$PWD"

echo "-- one row for a look, one for each stage"
trainprof doctor --cost | awk '$2 ~ /^cost/ { print $1, $2 }'

echo "-- the stages are all of it"
trainprof doctor --cost --json >cost.json
python3 - <<'PY'
import json
with open("cost.json", encoding="utf-8") as file:
    cost = json.load(file)["cost"]
own = cost["own_cpu_ns"]
stages = sum(value for name, value in own.items() if name != "all")
print("sum", abs(stages - own["all"]) < 1000)
looks = (own["all"] - own["start"]) / cost["looks"]
print("look", cost["looks"] > 0, abs(cost["look_ns"] - looks) < 1)
PY

echo "-- nothing is left behind, and without a place for it the rest is said"
ls -d trainprof-cost-* 2>/dev/null
TMPDIR=/nowhere trainprof doctor --cost | awk '$2 == "cost" { print $1; n++ } END { print NR > 5 }'
