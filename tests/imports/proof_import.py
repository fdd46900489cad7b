#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares imports of traces with `trainprof run` of the same processes.

usage: proof_import.py TRAINPROF PYTHON FOLDER [STEPS [PROGRAM [LOADER]]]

Each program trains under its framework's profiler and under `trainprof run` at once: with batches
in memory, and with a loader that takes as long as the training. The parts of a step in both reports
may differ by TOLERANCE. More is explained by

- CPUs: a profiler cannot see that a thread lacks one, and shows it as the work that the thread has
  begun. So the live report's share of steps without a free CPU may lie in any part of the import.
- no record: time of which the trace has nothing, as between two executions of Keras, is unknown in
  the import (`step.idle_unknown_ratio`), and may lie in any part of the live report.
- sampling: parts of the live report are estimates with an interval, which is wide where its samples
  are few. What only that explains is called so.

Where other programs took more than OTHERS_MAX of the CPUs, a case is shown and not judged. "Clock"
is the share of a step without a batch by the program's own clock (packed_batches.py, or that of
Keras's graph). It says which of the two is right where they differ, and is not judged: before and
after a call of Keras there is neither a batch nor a fetch.
"""
import json
import math
import os
import re
import resource
import shutil
import subprocess
import sys
import time

PARTS = ["compute", "communication", "memory", "dataloader", "host", "idle"]
# The program, and what follows the number of steps: Keras may make ten steps a call.
PROGRAMS = {"jax": ("jax_training.py",), "tensorflow": ("tensorflow_training.py",),
            "keras": ("keras_training.py",), "keras10": ("keras_training.py", "10")}
LOADERS = {"memory": 0, "slow": 24}
# With batches in memory steps are short, and in a run of few seconds their mark may not be found.
STEPS_FACTOR = {"jax": 3, "tensorflow": 2, "keras": 2, "keras10": 2}
TOLERANCE = 0.03
# For a tf.data.Dataset XProf shows the operation that fetches a batch. The Python around it (next(),
# arguments, flattening) is loading in live stacks, and in the import Python like any other: there,
# host and dataloader are judged by their sum.
TOGETHER = ("host", "dataloader")
# With the slow loader both must show that the program waits for data for more than this.
WAITS_MIN = 0.2
# More than that, and a case measures the other programs.
OTHERS_MAX = 0.1


def busy_s():
    """How long CPUs were busy since the machine started, or taken away from it."""
    with open("/proc/stat", encoding="ascii") as stat:
        user, nice, system, _, _, irq, softirq, steal = map(int, stat.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def own_s():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def others_during(work, *arguments):
    """Does the work, and returns the share of all CPUs that other programs took meanwhile."""
    start_s, before_s, own_before_s = time.monotonic(), busy_s(), own_s()
    work(*arguments)
    others_s = busy_s() - before_s - (own_s() - own_before_s)
    return max(others_s, 0) / (time.monotonic() - start_s) / os.cpu_count()


def run(command, log):
    with open(log, "ab") as out:
        if subprocess.run(command, stdout=out, stderr=out).returncode:
            sys.exit(f"failed: {' '.join(command)}\n  see {log}")


def read(trainprof, recording):
    text = subprocess.run([trainprof, "report", "--format=json", recording], check=True,
                          capture_output=True).stdout
    summary = json.loads(text)["summary"]
    values = {name: row["value"] or 0 for name, row in summary["metrics"].items()}
    found = {part: values.get(f"step.{part}_ratio", 0) for part in PARTS}
    found["error"] = {part: half_width(summary["metrics"].get(f"step.{part}_ratio"))
                      for part in PARTS}
    found["lacks"] = sum(values.get(name, 0) for name in (
        "step.idle_runnable_ratio", "step.dataloader_cpu_queue_ratio"))
    found["unknown"] = values.get("step.idle_unknown_ratio", 0)
    found["idle"] -= values.get("step.idle_runnable_ratio", 0) + found["unknown"]
    found["verdict"] = summary["verdict"]
    found["steps"] = values.get("step.count", 0)
    return found


def half_width(metric):
    low, high = (metric or {}).get("ci95") or (0, 0)
    return (high - low) / 2


def clock_of(log):
    """The share of a step without a batch, by the program's own clock."""
    with open(log, encoding="utf-8", errors="replace") as text:
        return float(re.search(r"without a batch ([0-9.]+) %", text.read())[1]) / 100


def unexplained(live, imported, together, is_sampled):
    """What CPUs, what was not recorded, and maybe sampling do not explain of the parts."""
    gaps = {part: imported[part] - live[part] for part in PARTS}
    errors = dict(live["error"])
    if together:
        gaps[together[0]] += gaps.pop(together[1])
        errors[together[0]] = math.hypot(errors[together[0]], errors.pop(together[1]))
    if is_sampled:
        gaps = {part: math.copysign(max(abs(gap) - errors[part], 0), gap)
                for part, gap in gaps.items()}
    more = sum(gap for gap in gaps.values() if gap > 0) - live["lacks"]
    less = -sum(gap for gap in gaps.values() if gap < 0) - imported["unknown"]
    return max(more, less, 0)


def compare(trainprof, python, folder, program, loader, steps):
    here = os.path.dirname(os.path.abspath(__file__))
    name = f"{program}-{loader}"
    logs, live, imported = (os.path.join(folder, name + end) for end in ("", ".live", ".import"))
    log = os.path.join(folder, name + ".log")
    steps *= 1 if LOADERS[loader] else STEPS_FACTOR[program]
    for path in (logs, live, imported):
        shutil.rmtree(path, ignore_errors=True)
    open(log, "wb").close()
    file, *more = PROGRAMS[program]
    command = [trainprof, "run", "-q", "-o", live, "--", python, os.path.join(here, file), logs,
               str(LOADERS[loader]), str(steps), *more]
    others = others_during(run, command, log)
    run([trainprof, "import", "-q", "-o", imported, logs], log)
    mine, theirs = read(trainprof, live), read(trainprof, imported)
    together = () if program == "jax" else TOGETHER
    left, beyond = (unexplained(mine, theirs, together, is_sampled) for is_sampled in (False, True))
    loads = min(mine["dataloader"], theirs["dataloader"]) > WAITS_MIN
    good = mine["steps"] > 0 and beyond <= TOLERANCE and loads == (LOADERS[loader] > 0)
    answer = "FAIL" if not good else "ok" if left <= TOLERANCE else "sampling"
    if others > OTHERS_MAX:
        answer = "not judged"
    print(f"{program:<11} {loader:<8}", end="")
    for part in ("compute", "dataloader", "host", "idle"):
        print(f"  {100 * mine[part]:5.1f} {100 * theirs[part]:5.1f}", end="")
    for share in (mine["lacks"], theirs["unknown"], left, clock_of(log), others):
        print(f"  {100 * share:5.1f}", end="")
    print(f"  {answer}: {mine['verdict']}, {theirs['verdict']}", flush=True)
    return answer


def main():
    trainprof, python, folder = sys.argv[1:4]
    steps = int(sys.argv[4]) if len(sys.argv) > 4 else 400
    programs = sys.argv[5:6] or list(PROGRAMS)
    loaders = sys.argv[6:7] or LOADERS
    os.makedirs(folder, exist_ok=True)
    print("% of a step: live, import  compute       dataloader    host          idle"
          "         no CPU  unknown left  clock  others")
    answers = [compare(trainprof, python, folder, program, loader, steps)
               for program in programs for loader in loaders]
    counts = {answer: answers.count(answer) for answer in ("ok", "sampling", "FAIL", "not judged")}
    print(f"{counts['ok']} of {len(answers)} within {100 * TOLERANCE:.0f} points, or explained by "
          f"CPUs or what was not recorded; {counts['sampling']} explained by sampling; "
          f"{counts['FAIL']} not; {counts['not judged']} not judged beside other programs")
    sys.exit(counts["FAIL"] > 0 or counts["not judged"] == len(answers))


main()
