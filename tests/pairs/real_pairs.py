#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real pairs of runs of one program: false alarms, coverage, and power on this machine.

real_pairs.py measure TRAINPROF FOLDER KIND [SECONDS]: `trainprof compare` measures one command against itself for
so long; each call adds a piece to those of the folder.
real_pairs.py judge JUDGE FOLDER: what the pieces of each kind say. Trials are drawn: some pairs that follow each
other, with the sides of each pair by chance, judged as `compare` judges them. Nothing differs, so an interval
without 1 is a false alarm. For power the steps of one side are made longer by a known ratio; the drifting clock is
added to the quiet pairs, run by run. Trials share runs, so their rates vary more than those of as many separate
trials: a rate counts as failed beyond three standard errors of as many trials as there are disjoint ones.
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
# What is measured: arguments of steady.py, whether other programs want the CPUs, and the runs that warm up.
KINDS = {
    "quiet": ("400 steady", False, 1),
    "busy neighbour": ("400 steady", True, 1),
    "bimodal steps": ("400 bimodal", False, 1),
    "epochs with pauses": ("400 epochs", False, 1),
    "quiet, runs of 20 s": ("3500 steady", False, 0),
}
TRIALS = 400
NOMINAL = 0.05
DRIFT = 0.01
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
    """When a run began, its mean step and the standard error that its own steps leave."""
    text = subprocess.run([trainprof, "report", "--json", name], stdout=subprocess.PIPE, check=True).stdout
    report = json.loads(text)
    time = report["summary"]["metrics"]["step.time_ns"]
    low, high = time["ci95"]
    return report["run"]["started_at"], time["value"], (high - low) / 4


def measure(trainprof, folder, kind, seconds):
    """Adds a piece: for each pair [is B first, A, its error, B, its error]."""
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
    pairs = []
    for names in zip(document["difference"]["base"], document["difference"]["new"]):
        a, b = (value_of(trainprof, run["name"]) for run in names)
        pairs.append([b[0] < a[0], a[1], a[2], b[1], b[2]])
    piece = {"kind": kind, "pairs": pairs, **{key: document[key] for key in ("repeated", "disturbed", "verdict")}}
    with open(f"{folder}/{name_of(kind)}-{seed:02}.json", "w") as file:
        json.dump(piece, file)
    shutil.rmtree(runs)
    print(f"{kind}: {len(pairs)} pairs, {piece['repeated']} repeated, {piece['disturbed']} disturbed")


if __name__ == "__main__":
    measure(os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3]), sys.argv[4], int(sys.argv[5]))
