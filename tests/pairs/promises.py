#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows the advice for real programs, and prints what was promised beside what was measured.

promises.py TRAINPROF FOLDER [CASE...]: programs of tests/real. Where the advice is a setting, `trainprof
try` applies it; else the program's own option follows it, and `trainprof compare` measures. A floor
("at least") is broken where the whole interval lies below its value; a bound ("up to") where it lies
above; an estimate where the interval misses that of the promise. A case is open where fewer than three
pairs were measured in the time, where "no gain" and the promise both lie in the interval, and where the
promise rules nothing out. PAIRS sets the number of pairs (3), SECONDS the time for them (150). A case
whose result with the same TRAINPROF, limits and commands is in FOLDER is not measured again.
"""
import hashlib
import json
import math
import os
import shlex
import shutil
import statistics
import subprocess
import sys

REAL = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "real")
PYTHON = os.environ.get("PYTHON", "/usr/bin/python3")
CNN = f"{PYTHON} {REAL}/cnn.py truth"
LOOPS = f"{PYTHON} {REAL}/loops.py"
LOOPS1 = f"env OMP_NUM_THREADS=1 {LOOPS}"
DARKNET = f"sh {REAL}/darknet.sh {REAL}"
# A folder with an optimised libblas.so.3, as in Debian's libopenblas0-pthread.
OPENBLAS = os.environ.get("OPENBLAS", "/usr/lib/x86_64-linux-gnu/openblas-pthread")
PAIRS = os.environ.get("PAIRS", "3")
LIMITS = [f"--pairs={PAIRS}", f"--time={os.environ.get('SECONDS', '150')}s", "--warmup=0", "--json"]
STUDENT = {3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}  # 95 %, of n pairs
NO_BOUND = 100  # trainprof writes this where a gain has no upper limit
# Name: (command, rules, None to try it, or the command with the advice followed).
CASES = {
    "too many threads": (
        f"env OMP_NUM_THREADS=8 {LOOPS} wide truth --steps 150",
        "compute/too-many-threads|compute/spinning-pools|host/oversubscribed", None),
    "too many threads of a network": (
        f"env OMP_NUM_THREADS=8 {CNN} small --steps 60 --width 96 --batch 32",
        "compute/too-many-threads|compute/spinning-pools|host/oversubscribed", None),
    "one thread": (f"{LOOPS1} wide truth --steps 150", "compute/one-thread", None),
    "reference BLAS": (
        f"{LOOPS1} chars truth --steps 120", "idiom/reference-blas|compute/scalar-kernels",
        f"env OMP_NUM_THREADS=1 LD_LIBRARY_PATH={OPENBLAS} {LOOPS} chars truth --steps 120"),
    "workers of each epoch": (f"{LOOPS} epochs truth --steps 300", "input/workers-start-again", None),
    "loads in the trainer": (f"{CNN} middle --steps 40 --width 64 --batch 48", "input/loads-in-trainer", None),
    "a generator loads": (
        f"{LOOPS1} generator truth --steps 60", "input/loads-in-trainer",
        f"{LOOPS1} generator truth --steps 60 --fixed"),
    "decodes large pictures": (
        f"{CNN} middle --steps 60 --width 16 --batch 32 --workers 2",
        "input/smaller-samples|input/loader-cpu-bound|idiom/slow-resize",
        f"{CNN} small --steps 300 --width 16 --batch 32 --workers 2"),
    "decodes large pictures, darknet": (
        f"{DARKNET} large 20 8", "input/smaller-samples|input/loader-cpu-bound", f"{DARKNET} small 20 8"),
    "checkpoint every other step": (
        f"{LOOPS1} checkpoints truth --steps 60 --every 2",
        "host/checkpoints|host/checkpoint-in-step|idiom/checkpoint-often",
        f"{LOOPS1} checkpoints truth --steps 240 --every 240"),
    "prints each step": (
        f"{LOOPS1} prints truth --steps 100", "idiom/print-each-step|host/logging-in-step|idiom/item-each-step|host/interpreter",
        f"{LOOPS1} prints truth --steps 500 --print-every 10"),
    "interpreter": (
        f"{LOOPS1} small truth --steps 60", "host/interpreter", f"{LOOPS1} small truth --steps 4000 --fixed"),
    "late rank": (
        f"{LOOPS1} ranks truth --steps 60", "communication/late-rank|host/sleeps-in-step",
        f"{LOOPS1} ranks truth --steps 300 --late 0"),
}


def run(words, **more):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **more)


def advice_of(trainprof, folder, rules):
    """The first advice of these rules in the recording."""
    report = json.loads(run([trainprof, "report", "--json", "base"], cwd=folder).stdout)
    if "findings" not in report:  # of a job of ranks
        report["findings"] = [{"rule": advice["rule"], "state": "fired", "level": "high",
                               "gain": {"kind": advice["speedup"]["kind"], "bracket": advice["speedup"]["ci95"], "speedup": advice["speedup"]}}
                              for advice in report["advice"]]
    fired = {f["rule"]: f for f in report["findings"] if f["state"] == "fired" and f["level"] != "note"}
    return next((fired[rule] for rule in rules.split("|") if rule in fired), None), sorted(fired)


def mean_step_ns(trainprof, folder, name):
    """Of all steps: one with a checkpoint is not among the usual steps, which `compare` compares."""
    each = json.loads(run([trainprof, "report", "--json", name], cwd=folder).stdout)["steps"]["each"]
    whole = [time for time, kind in zip(each["duration_ns"], each["kinds"]) if kind != "cut"]
    return sum(whole) / len(whole)


def ratio_of_loops(trainprof, folder, difference):
    names = [[run["name"] for run in difference[side]] for side in ("base", "new")]
    logs = [math.log(mean_step_ns(trainprof, folder, new) / mean_step_ns(trainprof, folder, base)) for base, new in zip(*names)]
    half = STUDENT.get(len(logs), math.inf) * (statistics.stdev(logs) if len(logs) > 1 else 1) / math.sqrt(len(logs))
    mean = statistics.mean(logs)
    return {"ratio": math.exp(mean), "ci95": [math.exp(mean - half), math.exp(min(mean + half, 99))]}


def measure(trainprof, folder, command, advice, changed):
    """(promised, kind of promise, measured, pairs) of the advice; ValueError where nothing was measured."""
    if changed:
        said = run([trainprof, "compare", "-q", *LIMITS, "-o", "pairs", "--", changed, command], cwd=folder)
        difference = json.loads(said.stdout).get("difference")
        if not difference or "ratio" not in difference["ratio"]:
            raise ValueError("no pair was compared")
        if difference["of"] != "step":
            raise ValueError("whole runs were compared, a promise is of steps")
        ratio, pairs = difference["ratio"], json.loads(said.stdout)["pairs"]
        if "checkpoint" in advice["rule"]:
            ratio = ratio_of_loops(trainprof, folder, difference)
        measured = {"value": ratio["ratio"], "low": ratio["ci95"][0], "high": ratio["ci95"][1]}
        gain = advice["gain"]
        promised = dict(zip(("low", "high"), gain["bracket"]), value=gain["speedup"]["value"])
        return promised, gain["kind"], measured, pairs
    said = run([trainprof, "try", "-q", *LIMITS, "-o", "pairs", "base", advice["rule"]], cwd=folder)
    trial = json.loads(said.stdout)["trials"][0]
    if "measured" not in trial:
        raise ValueError(f"{trial['state']}: {trial['because']}")
    if trial["of"] != "step":
        raise ValueError("whole runs were compared, a promise is of steps")
    return trial["promised"], advice["gain"]["kind"], trial["measured"], trial["pairs"]


def is_vacuous(promised, kind):
    """The promise fits any gain."""
    return promised["value"] <= 1 if kind == "floor" else promised["low"] <= 1 and promised["high"] >= NO_BOUND


def is_kept(promised, kind, measured, pairs):
    """None where the pairs do not say."""
    least = promised["value"] if kind == "floor" else promised["low"]
    is_undecided = measured["low"] <= 1 <= measured["high"] and 1 < least <= measured["high"]
    if pairs < 3 or is_vacuous(promised, kind) or is_undecided:
        return None
    if kind == "floor":
        return measured["high"] >= promised["value"]
    if kind == "bound":
        return measured["low"] <= promised["high"]
    return measured["high"] >= promised["low"] and measured["low"] <= promised["high"]


def digest_of(trainprof, name):
    with open(trainprof, "rb") as file:
        return hashlib.sha256(file.read() + repr((LIMITS, CASES[name])).encode()).hexdigest()


def kept_result(trainprof, folder, name):
    try:
        with open(os.path.join(folder, "result.txt")) as file:
            digest, line = file.read().split("\n")
    except FileNotFoundError:
        return None
    return line if digest == digest_of(trainprof, name) else None


def lacks(command, changed):
    """What is not installed and the case needs; None if it has all."""
    if (CNN in command or DARKNET in command) and run([PYTHON, "-c", "import PIL"]).returncode:
        return "Pillow (Debian: python3-pil)"
    if DARKNET in command and not shutil.which("darknet"):
        return "darknet (Debian: darknet)"
    if changed and OPENBLAS in changed and not os.path.isdir(OPENBLAS):
        return "OpenBLAS (Debian: libopenblas0-pthread; OPENBLAS=FOLDER)"
    return None


def judge(trainprof, folder, name):
    """True, false, or None where a library is missing."""
    command, rules, changed = CASES[name]
    lacking = lacks(command, changed)
    if lacking:
        print(f"SKIPPED {name}: no {lacking}")
        return None
    folder = os.path.join(folder, name.replace(" ", "-"))
    os.makedirs(folder, exist_ok=True)
    line = kept_result(trainprof, folder, name)
    if line:
        print(line)
        return {"k": True, "B": False}.get(line[0])
    for pictures, size in (("small", "512 32"), ("middle", "64 400"), ("large", "32 2000")):
        if f" {pictures} " in command + (changed or "") and not os.path.isdir(os.path.join(folder, pictures)):
            run(f"{PYTHON} {REAL}/pictures.py {pictures} {size}", cwd=folder, shell=True)
    done = run([trainprof, "run", "-q", "--force", "-o", "base", "--", *shlex.split(command)], cwd=folder)
    advice, fired = advice_of(trainprof, folder, rules)
    if done.returncode or not advice:
        print(f"FAILED {name}: none of {rules} among {', '.join(fired)} {done.stderr[-300:]}")
        return False
    shutil.rmtree(os.path.join(folder, "pairs"), ignore_errors=True)  # of another TRAINPROF
    try:
        promised, kind, measured, pairs = measure(trainprof, folder, command, advice, changed)
    except ValueError as error:
        print(f"open   | {name} | {advice['rule']} | {error}")
        return None
    good = is_kept(promised, kind, measured, pairs)
    word = {True: "kept", False: "BROKEN", None: "open"}[good]
    line = (f"{word:6} | {name} | {advice['rule']} | {'by hand' if changed else 'try'} | {kind} "
            f"{promised['value']:.2f} ({promised['low']:.2f}-{promised['high']:.2f}) | {measured['value']:.2f} "
            f"({measured['low']:.2f}-{measured['high']:.2f}), {pairs} pairs")
    print(line, flush=True)
    with open(os.path.join(folder, "result.txt"), "w") as file:
        file.write(digest_of(trainprof, name) + "\n" + line)
    return good


def main():
    os.environ["MARK_STEPS"] = "1"  # steps of a few ms are not seen in call stacks
    trainprof, folder, chosen = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3:] or list(CASES)
    os.makedirs(folder, exist_ok=True)
    results = [judge(trainprof, folder, name) for name in chosen]
    print(f"promises: {results.count(True)} passed, {results.count(False)} failed, {results.count(None)} skipped or open")
    sys.exit(False in results)


if __name__ == "__main__":
    main()
