#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows the advice for real programs, and prints what was promised beside what was measured.

promises.py TRAINPROF FOLDER [CASE...]: programs of tests/real. Where the advice is a setting, `trainprof
try` applies it; else the program's own option follows it, and `trainprof compare` measures. A floor
("at least") is broken where the whole interval lies below its value; a bound ("up to") where it lies
above; an estimate where the interval misses that of the promise. A case whose result with the same TRAINPROF is
in FOLDER is not measured again.
"""
import hashlib
import json
import os
import subprocess
import sys

REAL = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "real")
PYTHON = os.environ.get("PYTHON", "/usr/bin/python3")
CNN = f"{PYTHON} {REAL}/cnn.py truth"
LOOPS = f"{PYTHON} {REAL}/loops.py"
# Name: (command, rules, None to try it, or the command with the advice followed).
CASES = {
    "too many threads": (
        f"OMP_NUM_THREADS=8 {LOOPS} wide truth --steps 60",
        "compute/too-many-threads|compute/spinning-pools|host/oversubscribed", None),
    "workers of each epoch": (f"{LOOPS} epochs truth --steps 100", "input/workers-start-again", None),
    "checkpoint every other step": (
        f"{LOOPS} checkpoints truth --steps 24 --every 2", "host/checkpoints|idiom/checkpoint-often",
        f"{LOOPS} checkpoints truth --steps 24 --every 12"),
    "loads in the trainer": (f"{CNN} middle --steps 30 --width 32 --batch 32", "input/loads-in-trainer", None),
    "decodes large pictures": (
        f"{CNN} middle --steps 30 --width 16 --batch 32",
        "input/smaller-samples|input/loader-cpu-bound|idiom/slow-resize",
        f"{CNN} small --steps 30 --width 16 --batch 32"),
}


def run(words, **more):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **more)


def advice_of(trainprof, folder, rules):
    """The first advice of these rules in the recording."""
    report = json.loads(run([trainprof, "report", "--json", "base"], cwd=folder).stdout)
    fired = {f["rule"]: f for f in report["findings"] if f["state"] == "fired" and f["level"] != "note"}
    return next((fired[rule] for rule in rules.split("|") if rule in fired), None), sorted(fired)


def measure(trainprof, folder, command, advice, changed):
    """(promised, kind of promise, measured, pairs) of the advice."""
    if changed:
        said = run([trainprof, "compare", "-q", "--pairs=3", "--warmup=0", "--json", "-o", "pairs", "--", changed, command], cwd=folder)
        difference = json.loads(said.stdout)["difference"]
        ratio, pairs = difference["ratio"], json.loads(said.stdout)["pairs"]
        measured = {"value": ratio["ratio"], "low": ratio["ci95"][0], "high": ratio["ci95"][1]}
        gain = advice["gain"]
        promised = dict(zip(("low", "high"), gain["bracket"]), value=gain["speedup"]["value"])
        return promised, gain["kind"], measured, pairs
    said = run([trainprof, "try", "-q", "--pairs=3", "--warmup=0", "--json", "-o", "pairs", "base", advice["rule"]], cwd=folder)
    trial = json.loads(said.stdout)["trials"][0]
    if "measured" not in trial:
        raise ValueError(f"{trial['state']}: {trial['because']}")
    return trial["promised"], advice["gain"]["kind"], trial["measured"], trial["pairs"]


def is_kept(promised, kind, measured):
    if kind == "floor":
        return measured["high"] >= promised["value"]
    if kind == "bound":
        return measured["low"] <= promised["high"]
    return measured["high"] >= promised["low"] and measured["low"] <= promised["high"]


def digest_of(trainprof):
    with open(trainprof, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def kept_result(trainprof, folder):
    try:
        with open(os.path.join(folder, "result.txt")) as file:
            digest, line = file.read().split("\n")
    except FileNotFoundError:
        return None
    return line if digest == digest_of(trainprof) else None


def judge(trainprof, folder, name):
    """True, false, or None where a library is missing."""
    command, rules, changed = CASES[name]
    if CNN in command and run([PYTHON, "-c", "import PIL"]).returncode:
        print(f"SKIPPED {name}: no Pillow (Debian: python3-pil)")
        return None
    folder = os.path.join(folder, name.replace(" ", "-"))
    os.makedirs(folder, exist_ok=True)
    line = kept_result(trainprof, folder)
    if line:
        print(line)
        return line.startswith("kept")
    for pictures, size in (("small", "512 32"), ("middle", "64 400")):
        if pictures in command + (changed or "") and not os.path.isdir(os.path.join(folder, pictures)):
            run(f"{PYTHON} {REAL}/pictures.py {pictures} {size}", cwd=folder, shell=True)
    done = run([trainprof, "run", "-q", "--force", "-o", "base", "--", "sh", "-c", f"exec env {command}"], cwd=folder)
    advice, fired = advice_of(trainprof, folder, rules)
    if done.returncode or not advice:
        print(f"FAILED {name}: none of {rules} among {', '.join(fired)} {done.stderr[-300:]}")
        return False
    promised, kind, measured, pairs = measure(trainprof, folder, command, advice, changed)
    good = is_kept(promised, kind, measured)
    line = (f"{'kept' if good else 'BROKEN':6} | {name} | {advice['rule']} | {'by hand' if changed else 'try'} | {kind} "
            f"{promised['value']:.2f} ({promised['low']:.2f}-{promised['high']:.2f}) | {measured['value']:.2f} "
            f"({measured['low']:.2f}-{measured['high']:.2f}), {pairs} pairs")
    print(line, flush=True)
    with open(os.path.join(folder, "result.txt"), "w") as file:
        file.write(digest_of(trainprof) + "\n" + line)
    return good


def main():
    trainprof, folder, chosen = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3:] or list(CASES)
    os.makedirs(folder, exist_ok=True)
    results = [judge(trainprof, folder, name) for name in chosen]
    print(f"promises: {results.count(True)} passed, {results.count(False)} failed, {results.count(None)} skipped")
    sys.exit(False in results)


if __name__ == "__main__":
    main()
