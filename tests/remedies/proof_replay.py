# SPDX-License-Identifier: Apache-2.0
"""Runs loops.py with the present and with a changed loader, and compares the prediction of the replay
of the first run with the clocks of both.

proof_replay.py TRAINPROF WORK [NAME...]; ROUNDS (3) is how often each is run for its clock
"""
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS = int(os.environ.get("ROUNDS", "3"))
# Sleeps have the right length only if a sleeper that wakes up gets a CPU.
FIRST = ["chrt", "-f", "10"] if os.geteuid() == 0 else []
MEDIAN, COVERED, WIDTH = 0.05, 0.90, 1.4
# Name, kind, keys, and the change: the number of workers (which the report gives) or another key.
PROGRAMS = [
    ("inline", "inline", "wait=30 step_cpu=15", "torch workers={n}"),
    ("torch 0", "torch", "wait=30 cpu=3 step_cpu=15", "torch workers={n}"),
    ("torch 1 waits", "torch", "workers=1 wait=50 cpu=2 step_cpu=12", "torch workers={n}"),
    ("torch 1 both", "torch", "workers=1 wait=30 cpu=8 step_cpu=8", "torch workers={n}"),
    ("torch 2 waits", "torch", "workers=2 wait=90 step_cpu=8", "torch workers={n}"),
    ("torch 2 enough", "torch", "workers=2 wait=20 step_cpu=20", "torch workers={n}"),
    ("threads 1", "threads", "workers=1 wait=40 cpu=3 step_cpu=10", "threads workers={n}"),
    ("pool 2", "pool", "workers=2 wait=60 cpu=3 step_cpu=8", "pool workers={n}"),
    ("torch slow ones", "torch", "workers=3 ahead=1 wait=10 slow=10 step_cpu=12", "torch ahead=4"),
    ("torch 1 decodes", "torch", "workers=1 cpu=24 step_cpu=8", "torch workers={n}"),
]


def command(kind, keys):
    return FIRST + ["/usr/bin/python3", "-W", "ignore", os.path.join(HERE, "loops.py"), kind] + keys.split()


def step_of(text):
    return float(text.split("STEP ")[1].split()[0])


def clock(kind, keys):
    return step_of(subprocess.run(command(kind, keys), stdout=subprocess.PIPE, text=True, check=True).stdout)


def record(trainprof, work, name, kind, keys):
    folder = os.path.join(work, name.replace(" ", "-"))
    run = subprocess.run(FIRST + [trainprof, "run", "-q", "--force", "-o", folder, "--"] + command(kind, keys),
                         stdout=subprocess.PIPE, text=True, check=True)
    report = subprocess.run([trainprof, "report", "--json", folder], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(report.stdout)["summary"]["metrics"], step_of(run.stdout)


def predicted(facts, by_workers):
    """Returns the interval of the speed-up, or why there is none."""
    names = ["replay.workers_least_ratio", "replay.workers_ratio"] if by_workers else ["replay.prefetch_ratio"] * 2
    for name in ["replay.error_ratio"] + names:
        if name not in facts:
            return None
    return [1 / (1 - facts[name]["value"]) for name in names]


def changed(keys, change, n):
    kind, key = change.format(n=n).split()
    name = key.split("=")[0]
    return kind, " ".join([k for k in keys.split() if k.split("=")[0] != name] + [key])


def judge(trainprof, work, name, kind, keys, change):
    facts, at_record = record(trainprof, work, name, kind, keys)
    bracket = predicted(facts, "{n}" in change)
    error = facts["replay.error_ratio"]["value"]
    if not bracket:
        why = facts["replay.error_ratio"].get("missing") or f"its replay differs by {error:+.1%}"
        print(f"{name:18} no prediction: {why}", flush=True)
        return None
    n = int(facts["replay.workers"]["value"])
    after = changed(keys, change, n)
    pairs = [(clock(kind, keys), clock(*after)) for _ in range(ROUNDS)]
    before, then = (statistics.median(p[i] for p in pairs) for i in (0, 1))
    value = (bracket[0] * bracket[1]) ** 0.5
    ratio = before / then
    print(f"{name:18} {' '.join(after[1].split()[-1:]):12} step {before * 1e3:6.1f} ms (recorded {at_record * 1e3:6.1f}, "
          f"replayed {error:+.1%})  predicted {value:.2f} ({bracket[0]:.2f}-{bracket[1]:.2f})  is {ratio:.2f}  "
          f"off {value / ratio - 1:+.1%}", flush=True)
    return {"off": abs(value / ratio - 1), "held": bracket[0] * 0.98 <= ratio <= bracket[1] * 1.02,
            "width": bracket[1] / bracket[0]}


def main():
    trainprof, work, only = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:]
    os.makedirs(work, exist_ok=True)
    rows = [judge(trainprof, work, *program) for program in PROGRAMS if not only or program[0] in only]
    known = [row for row in rows if row]
    if not known:
        print("replay: 0 passed, 1 failed, 0 skipped")
        sys.exit(1)
    off = statistics.median(row["off"] for row in known)
    held = sum(row["held"] for row in known) / len(known)
    width = statistics.median(row["width"] for row in known)
    print(f"{len(known)} of {len(rows)} predicted; off by {off:.1%} in the median (goal {MEDIAN:.0%}), worst "
          f"{max(row['off'] for row in known):.1%}; brackets hold {held:.0%} (goal {COVERED:.0%}), "
          f"median width {width:.2f} (goal {WIDTH})")
    good = [off <= MEDIAN, held >= COVERED, width <= WIDTH]
    print(f"replay: {sum(good)} passed, {len(good) - sum(good)} failed, {len(rows) - len(known)} skipped")
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
