# SPDX-License-Identifier: Apache-2.0
"""compare.py RECORDING TRUTH REPORT.json NAME WISH: steps of a report against a program's own clock

WISH is the expected source of the steps: "watch", "counter" or "none". Prints a line of figures;
fails if exact borders are further than 0.1 ms from the program's, or mean steps by 0.5 %.
"""
import bisect
import json
import sys

recording, truth, report, name, wish = sys.argv[1:6]
started = int(json.load(open(recording + "/manifest.json"))["run"]["started_ns"])
rows = [[int(x) - started for x in line.split()] for line in open(truth)]
columns = [sorted(c) for c in zip(*rows)]
steps = json.load(open(report))["steps"]
way = steps["found_by"]
if way != wish:
    print("%-18s %s rather than %s: %s" % (name, way, wish, steps.get("reason")))
    sys.exit(1)
if way == "none":
    print("%-18s none, as is right" % name)
    sys.exit(0)
series = dict(steps["each"], bucket=1) if "each" in steps else steps["series"]
starts = series["start_ns"]


def nearest(times, t):
    i = bisect.bisect(times, t)
    return min((times[k] for k in (i - 1, i) if 0 <= k < len(times)), key=lambda x: abs(x - t))


def offs(times):
    return sorted(abs(nearest(times, t) - t) / 1e6 for t in starts)


# A step begins with any of its calls; the report names the one that was watched.
best = min(columns, key=lambda c: offs(c)[len(starts) // 2])
off = offs(best)
n_near = sum(x <= 0.1 for x in off)
confidence = steps["confidence_ratio"]
# The same steps by both clocks.
first, last = nearest(best, starts[1]), nearest(best, starts[-1])
n_true = bisect.bisect(best, last) - bisect.bisect(best, first)
ours = (starts[-1] - starts[1]) / (len(starts) - 2) if series["bucket"] == 1 else 0
mean = (last - first) / n_true
line = "%-18s %-7s %4d of %d steps, %4d within 0.1 ms, median %.3f ms, mean step %.3f ms, off %.3f %%"
print(line % (name, way, steps["total_count"], len(rows), n_near, off[len(off) // 2], mean / 1e6,
              100 * abs(ours / mean - 1)))
if way == "watch":
    exact = int(steps["reason"].split(":")[-1].split(" of ")[0].split()[-1]) if " of " in steps[
        "reason"].split(":")[-1] and "watchpoint" in steps["reason"] else len(starts)
    if n_near < 0.99 * min(exact, len(starts)) - 2 or abs(ours / mean - 1) > 0.005:
        sys.exit(1)
