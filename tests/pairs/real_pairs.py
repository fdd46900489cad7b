#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real pairs of runs of one program: false alarms, coverage, and power on this machine.

real_pairs.py measure TRAINPROF FOLDER SECONDS [KIND...]: `trainprof compare` measures one command against itself
for so long, for each kind; each call adds a piece to those of the folder.
real_pairs.py judge JUDGE FOLDER: what the pieces of each kind say. Trials are drawn: some pairs that follow each
other, with the sides of each pair by chance, judged as `compare` judges them. Nothing differs, so an interval
without 1 is a false alarm. For power the steps of one side are made longer by a known ratio; the drifting clock is
added to the quiet pairs, run by run. Trials share runs, so their rates vary more than those of as many separate
trials: a rate counts as failed beyond three standard errors of as many trials as there are disjoint ones. Rows
"simulated" are separate trials of pairs that vary as the real ones do, within pairs and from pair to pair.
"""
import glob
import json
import math
import os
import random
import shutil
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# The measurements: arguments of steady.py, whether other programs want the CPUs, and the runs that warm up.
KINDS = {
    "quiet": ("400 steady", False, 1),
    "busy neighbour": ("400 steady", True, 1),
    "bimodal steps": ("400 bimodal", False, 1),
    "epochs with pauses": ("400 epochs", False, 1),
    "quiet, runs of 20 s": ("3500 steady", False, 0),
    "crowded": ("150 steady", False, 1),  # for a machine that is: others want more than its CPUs
}
TRIALS = 400
SIMULATED = 4000
NOMINAL = 0.05
DRIFT = 0.01
SLOWER = (1.03, 1.10)
LOOKS = 15
# Keeps a CPU busy for up to 0.4 s, then sleeps for up to 1.2 s.
NEIGHBOUR = """
import random, time
while True:
    end = time.monotonic() + random.uniform(0, 0.4)
    while time.monotonic() < end:
        pass
    time.sleep(random.uniform(0, 1.2))
"""


def name_of(kind):
    return kind.replace(",", "").replace(" ", "_")


def pieces_of(folder, kind):
    return sorted(glob.glob(f"{folder}/{name_of(kind)}-*.json"))


def value_of(trainprof, name):
    """When a run began, and its mean step."""
    text = subprocess.run([trainprof, "report", "--json", name], stdout=subprocess.PIPE, check=True).stdout
    report = json.loads(text)
    return report["run"]["started_at"], report["summary"]["metrics"]["step.time_ns"]["value"]


def measure(trainprof, folder, kind, seconds):
    """Adds a piece: [is B first, A, B] for each pair."""
    arguments, has_neighbour, warmup = KINDS[kind]
    seed = len(pieces_of(folder, kind)) + 1
    runs = os.path.join(folder, "runs")
    shutil.rmtree(runs, ignore_errors=True)
    os.makedirs(folder, exist_ok=True)
    command = f"{os.environ.get('PYTHON', '/usr/bin/python3')} {HERE}/steady.py {arguments}"
    neighbours = [subprocess.Popen([sys.executable, "-c", NEIGHBOUR]) for _ in range(2 if has_neighbour else 0)]
    try:
        said = subprocess.run([trainprof, "compare", "-q", "--pairs=200", f"--time={seconds}s", f"--seed={seed}",
                               f"--warmup={warmup}", "-o", runs, "--json", "--", command, command], stdout=subprocess.PIPE, check=False)
    finally:
        for neighbour in neighbours:
            neighbour.kill()
            neighbour.wait()
    document = json.loads(said.stdout)
    if "difference" not in document:
        sys.exit(f"{kind}: no pair: {document['verdict']}")
    pairs = []
    for names in zip(document["difference"]["base"], document["difference"]["new"]):
        a, b = (value_of(trainprof, run["name"]) for run in names)
        if a[0] == b[0]:
            sys.exit(f"{kind}: runs of a second or less, so their order is unknown")
        pairs.append([b[0] < a[0], a[1], b[1]])
    piece = {"kind": kind, "pairs": pairs, **{key: document[key] for key in ("repeated", "disturbed", "verdict")}}
    with open(f"{folder}/{name_of(kind)}-{seed:02}.json", "w") as file:
        json.dump(piece, file)
    shutil.rmtree(runs)
    print(f"{kind}: {len(pairs)} pairs, {piece['repeated']} repeated, {piece['disturbed']} disturbed")


def pairs_of(folder, kind):
    """(is B first, A, B) of all pieces, one after the other, and how many were repeated or disturbed."""
    pairs, repeated, disturbed = [], 0, 0
    for path in pieces_of(folder, kind):
        with open(path) as file:
            piece = json.load(file)
        pairs += piece["pairs"]
        repeated, disturbed = repeated + piece["repeated"], disturbed + piece["disturbed"]
    return pairs, repeated, disturbed


def draw(chance, pairs, size, ratio, drift):
    """The line of a trial: pairs that follow each other, sides by chance, B longer by the ratio."""
    start = chance.randrange(len(pairs) - size + 1)
    words = []
    for i, (is_b_first, a, b) in enumerate(pairs[start:start + size]):
        if chance.random() < 0.5:
            is_b_first, a, b = not is_b_first, b, a
        a *= (1 + drift) ** (2 * i + is_b_first)
        b *= (1 + drift) ** (2 * i + (not is_b_first)) * ratio
        words += [str(int(is_b_first)), repr(a), repr(b)]
    return " ".join(words)


def answers_of(judge, lines, ratio):
    """Shares of trials whose interval lies above 1, below 1, around the truth; of answers "different" after looks."""
    said = subprocess.run([judge], input="\n".join(lines) + "\n", stdout=subprocess.PIPE, text=True, check=True).stdout
    rows = [line.split() for line in said.splitlines()]
    intervals = [(float(row[0]), float(row[1])) for row in rows]
    return tuple(sum(hits) / len(rows) for hits in (
        [low > 1 for low, _ in intervals], [high < 1 for _, high in intervals],
        [low <= ratio <= high for low, high in intervals], [row[2] == "different" for row in rows]))


def trials(judge, pairs, size, ratio, drift):
    chance = random.Random(size)
    return answers_of(judge, [draw(chance, pairs, size, ratio, drift) for _ in range(TRIALS)], ratio)


def simulated(judge, within, between, size, ratio):
    """The same for pairs with these standard deviations: of runs within pairs, and of pairs."""
    chance = random.Random(size)
    lines = []
    for _ in range(SIMULATED):
        words = []
        for _ in range(size):
            level = chance.gauss(0, between)
            a, b = (math.exp(level + chance.gauss(0, within)) for _ in range(2))
            words += [chance.choice("01"), repr(a), repr(b * ratio)]
        lines.append(" ".join(words))
    return answers_of(judge, lines, ratio)


def noise_of(pairs):
    """Standard deviations of runs within pairs, of pairs, and of all runs; the largest difference in a pair."""
    logs = [(math.log(a), math.log(b)) for _, a, b in pairs]
    differences = [b - a for a, b in logs]
    within = (sum(d * d for d in differences) / len(differences) / 2) ** 0.5
    overall = statistics.stdev(value for pair in logs for value in pair)
    return within, max(overall ** 2 - within ** 2, 0) ** 0.5, overall, max(map(abs, differences))


def print_row(is_held, kind, size, null, found):
    above, below, around, different = null
    print(f"{'held' if is_held else 'BROKEN':6} | {kind} | {size} | {above:.1%} | {below:.1%} | {around:.1%} | "
          + " | ".join(f"{share:.0%}" for share in found) + f" | {different:.1%}")


def judge_kind(judge, pairs, kind, drift):
    """Prints rows for each number of pairs; returns whether all rates hold."""
    within, between, _, _ = noise_of(pairs)
    is_good = True
    for size in (3, 5, 10, LOOKS):
        if len(pairs) >= 2 * size:
            bound = NOMINAL + 3 * (NOMINAL * (1 - NOMINAL) / (len(pairs) // size)) ** 0.5
            null = trials(judge, pairs, size, 1, drift)
            is_held = null[0] + null[1] <= bound
            print_row(is_held, kind, size, null, [trials(judge, pairs, size, ratio, drift)[0] for ratio in SLOWER])
            is_good = is_good and is_held
        if not drift:
            null = simulated(judge, within, between, size, 1)
            is_held = max(null[0], null[1], null[3]) <= NOMINAL
            print_row(is_held, "simulated", size, null,
                      [simulated(judge, within, between, size, ratio)[0] for ratio in SLOWER])
            is_good = is_good and is_held
    return is_good


def judge_all(judge, folder):
    results = []
    series = [(kind, *pairs_of(folder, kind), 0) for kind in KINDS]
    series.append(("drifting clock", *pairs_of(folder, "quiet"), DRIFT))
    print("       | noise | pairs | called slower | called faster | covered | "
          + " | ".join(f"{ratio - 1:.0%} slower found" for ratio in SLOWER) + " | called different by looks")
    for kind, pairs, repeated, disturbed, drift in series:
        if len(pairs) < 6:
            print(f"none   | {kind} | {len(pairs)} pairs: too few")
            results.append(None)
            continue
        within, _, overall, largest = noise_of(pairs)
        print(f"       | {kind}: {len(pairs)} pairs, {repeated} repeated, {disturbed} disturbed; runs vary by {within:.2%} "
              f"within pairs, {overall:.2%} in all; {largest:.1%} at most in a pair")
        results.append(judge_kind(judge, pairs, kind, drift))
    print(f"pairs: {results.count(True)} passed, {results.count(False)} failed, {results.count(None)} skipped")
    sys.exit(False in results)


def main():
    words = sys.argv[1:]
    if words[:1] == ["measure"] and len(words) > 3 and not set(words[4:]) - set(KINDS):
        for kind in words[4:] or [kind for kind in KINDS if kind != "crowded"]:
            measure(os.path.abspath(words[1]), os.path.abspath(words[2]), kind, int(words[3]))
    elif words[:1] == ["judge"] and len(words) == 3:
        judge_all(os.path.abspath(words[1]), os.path.abspath(words[2]))
    else:
        sys.exit(__doc__ + "KIND: " + ", ".join(KINDS))


if __name__ == "__main__":
    main()
