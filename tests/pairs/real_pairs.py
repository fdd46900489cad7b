#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real pairs of runs of one program: false alarms, coverage, and power on this machine.

real_pairs.py TRAINPROF FOLDER [PAIRS]: `trainprof compare` measures the same command against itself;
KEEP=1 takes the runs of the last time. Then trials are drawn: some pairs that follow each other, with the sides of each pair by chance, and
`trainprof diff --paired` judges them. Nothing differs, so an interval without 1 is a false alarm. For
power, the steps of one side are made longer by a known ratio in copies of the reports. Trials share
runs, so their rates vary more than those of as many separate trials: a rate counts as failed beyond
three standard errors of as many trials as there are disjoint ones.
"""
import json
import os
import random
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TRIALS = 400
NOMINAL = 0.05
SLOWER = (1.0, 1.03, 1.10)


def reports_of(trainprof, difference):
    """(A, B) of each pair that counts: the parts of the reports that a comparison reads."""
    pairs = []
    for names in zip(difference["base"], difference["new"]):
        sides = []
        for run in names:
            text = subprocess.run([trainprof, "report", "--json", run["name"]], stdout=subprocess.PIPE, check=True).stdout
            report = json.loads(text)
            kept = {key: report[key] for key in ("schema", "tool", "run", "environment", "partition")}
            kept["partition"]["lines"] = []
            kept["steps"] = {"count": report["steps"]["count"]}
            kept["summary"] = {"metrics": {"step.time_ns": report["summary"]["metrics"]["step.time_ns"]}}
            sides.append(kept)
        pairs.append(sides)
    return pairs


def slower(report, ratio):
    out = json.loads(json.dumps(report))
    time = out["summary"]["metrics"]["step.time_ns"]
    time["value"] *= ratio
    if time.get("ci95"):
        time["ci95"] = [end * ratio for end in time["ci95"]]
    return out


def write_all(folder, pairs):
    """Each report with each ratio, as a file."""
    for i, sides in enumerate(pairs):
        for side, report in zip("AB", sides):
            for ratio in SLOWER:
                with open(os.path.join(folder, f"{i}{side}{ratio}.json"), "w") as file:
                    json.dump(slower(report, ratio), file)


def judge(trainprof, folder, chosen, ratio):
    """The interval of new / base; `chosen` has (pair, base side, new side)."""
    words = [trainprof, "diff", "--paired", "--json"]
    for pair, base, new in chosen:
        words += [f"--base={folder}/{pair}{base}1.0.json", f"--new={folder}/{pair}{new}{ratio}.json"]
    return json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)["ratio"]["ci95"]


def trials(trainprof, folder, n_pairs, size, ratio):
    """Shares of trials whose interval lies above 1, below 1, and around the truth."""
    chance = random.Random(size)
    above = below = around = 0
    for _ in range(TRIALS):
        first = chance.randrange(n_pairs - size + 1)
        chosen = [(first + i, *chance.sample("AB", 2)) for i in range(size)]
        low, high = judge(trainprof, folder, chosen, ratio)
        above += low > 1
        below += high < 1
        around += low <= ratio <= high
    return above / TRIALS, below / TRIALS, around / TRIALS


def measure(trainprof, folder, n_pairs):
    """Compares the program with itself; pairs.json is the answer."""
    python = os.environ.get("PYTHON", "/usr/bin/python3")
    command = f"{python} {HERE}/steady.py"
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.join(folder, "reports"))
    with open(os.path.join(folder, "pairs.json"), "wb") as file:
        subprocess.run(
            [trainprof, "compare", "-q", f"--pairs={n_pairs}", "-o", os.path.join(folder, "runs"), "--json", "--", command, command],
            stdout=file, check=False)


def main():
    trainprof, folder = sys.argv[1], os.path.abspath(sys.argv[2])
    if not os.environ.get("KEEP"):
        measure(trainprof, folder, int(sys.argv[3]) if len(sys.argv) > 3 else 30)
    with open(os.path.join(folder, "pairs.json")) as file:
        document = json.load(file)
    n_pairs = document["pairs"]
    low, high = document["difference"]["ratio"]["ci95"]
    print(f"{n_pairs} pairs of one program, {document['repeated']} repeated: ratio {low:.4f} to {high:.4f}")
    write_all(os.path.join(folder, "reports"), reports_of(trainprof, document["difference"]))
    passed = failed = 0
    for size in (3, 5, 10):
        disjoint = max(n_pairs // size, 1)
        bound = NOMINAL + 3 * (NOMINAL * (1 - NOMINAL) / disjoint) ** 0.5
        above, below, around = trials(trainprof, os.path.join(folder, "reports"), n_pairs, size, 1.0)
        found = {ratio: trials(trainprof, os.path.join(folder, "reports"), n_pairs, size, ratio)[0] for ratio in SLOWER[1:]}
        is_good = above + below <= bound
        passed, failed = passed + is_good, failed + (not is_good)
        print(f"{size} pairs: called slower {above:.1%}, faster {below:.1%}, covered {around:.1%} of {TRIALS}; "
              + ", ".join(f"{ratio - 1:.0%} slower found {share:.0%}" for ratio, share in found.items()))
    print(f"pairs: {passed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
