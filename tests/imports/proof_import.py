#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares imports of traces with `trainprof run` of the same processes.

usage: proof_import.py TRAINPROF PYTHON FOLDER [STEPS [PROGRAM]]

Each program trains under its framework's profiler and under `trainprof run` at once: with batches
in memory, and with a loader that takes longer than the training. The parts of a step in both
reports may differ by TOLERANCE. A profiler cannot see that a thread lacks a CPU, and shows it
as the work that the thread has begun. So the live report's share of steps without a free CPU may
lie in any part of the import: it is the explained difference, and small on a quiet machine.
"""
import json
import os
import shutil
import subprocess
import sys

PARTS = ["compute", "communication", "memory", "dataloader", "host", "idle"]
PROGRAMS = ["jax", "tensorflow", "keras"]
LOADERS = {"in memory": 0, "slow": 24}
TOLERANCE = 0.03
# For a tf.data.Dataset XProf shows the operation that fetches a batch. The Python around it (next(),
# arguments, flattening) is loading in live stacks, and in the import Python like any other: there,
# host and dataloader are judged by their sum.
TOGETHER = {"tensorflow": ("host", "dataloader"), "keras": ("host", "dataloader")}
# With the slow loader both must show that the program waits for data for more than this.
WAITS_MIN = 0.2


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
    found["lacks"] = sum(values.get(name, 0) for name in (
        "step.idle_runnable_ratio", "step.dataloader_cpu_queue_ratio"))
    found["idle"] -= values.get("step.idle_runnable_ratio", 0)
    found["verdict"] = summary["verdict"]
    found["steps"] = values.get("step.count", 0)
    return found


def differences(live, imported, together):
    """The largest difference of a part, and what of it the lack of CPUs does not explain."""
    gaps = {part: imported[part] - live[part] for part in PARTS}
    part = max(gaps, key=lambda p: abs(gaps[p]))
    largest = gaps[part]
    if together:
        gaps[together[0]] += gaps.pop(together[1])
    too_much = sum(gap for gap in gaps.values() if gap > 0) - live["lacks"]
    too_little = -min(gaps.values())
    return part, largest, max(too_much, too_little, 0)


def compare(trainprof, python, folder, program, loader, steps):
    here = os.path.dirname(os.path.abspath(__file__))
    name = f"{program}-{loader.replace(' ', '-')}"
    logs, live, imported = (os.path.join(folder, name + end) for end in ("", ".live", ".import"))
    log = os.path.join(folder, name + ".log")
    for path in (logs, live, imported):
        shutil.rmtree(path, ignore_errors=True)
    run([trainprof, "run", "-q", "-o", live, "--", python,
         os.path.join(here, f"{program}_training.py"), logs, str(LOADERS[loader]), str(steps)], log)
    run([trainprof, "import", "-q", "-o", imported, logs], log)
    mine, theirs = read(trainprof, live), read(trainprof, imported)
    together = TOGETHER.get(program, ())
    part, gap, unexplained = differences(mine, theirs, together)
    loads = min(mine["dataloader"], theirs["dataloader"]) > WAITS_MIN
    good = mine["steps"] > 0 and unexplained <= TOLERANCE and loads == (LOADERS[loader] > 0)
    print(f"{program:<11} {loader:<10}", end="")
    for part_name in ("compute", "dataloader", "host", "idle"):
        print(f"  {100 * mine[part_name]:5.1f} {100 * theirs[part_name]:5.1f}", end="")
    print(f"  {100 * mine['lacks']:5.1f}  {100 * unexplained:5.1f} {'ok' if good else 'FAIL'}"
          f"  {mine['verdict']}, {theirs['verdict']}", flush=True)
    if together:
        print(f"  {' and '.join(together)} are judged by their sum")
    return good


def main():
    trainprof, python, folder = sys.argv[1:4]
    steps = int(sys.argv[4]) if len(sys.argv) > 4 else 400
    programs = sys.argv[5:6] or PROGRAMS
    os.makedirs(folder, exist_ok=True)
    print("% of a step: live and import   compute       dataloader    host          idle"
          "         no CPU  unexplained")
    good = [compare(trainprof, python, folder, program, loader, steps)
            for program in programs for loader in LOADERS]
    print(f"{sum(good)} of {len(good)} within {100 * TOLERANCE:.0f} points or explained")
    sys.exit(not all(good))


main()
