#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures trainprof's cost on real programs: own_cost.py TRAINPROF [BASE] [--rounds N] [--only TEXT]

Each program is measured by TRAINPROF and, if given, by BASE (an older trainprof), in turn, A B A B.
A row has medians over rounds: trainprof's own CPU time as counted by the kernel, from its start to
the end of the recording, its ratio to the wall time, the CPU time of a report, samples per second
and the share of complete native stacks. With --limit the exit status is 1 if the median over
programs is above that many per cent.
"""
import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
REAL = os.path.join(HERE, "..", "real")
SLOW = os.path.join(HERE, "..", "..", "..", "shared", "slow-programs")
PYTHON = "/usr/bin/python3"


def programs(work):
    """Returns name and command of each program; programs with missing packages are left out."""
    def has(module):
        return subprocess.run([PYTHON, "-c", "import " + module], stderr=subprocess.DEVNULL,
                              check=False).returncode == 0
    truth = os.path.join(work, "truth")
    if has("torch"):
        for kind, steps in (("chars", 150), ("small", 300), ("generator", 300), ("prints", 300)):
            yield kind, [PYTHON, REAL + "/loops.py", kind, truth, "--steps", str(steps)]
    if has("numpy") and has("mpi4py") and shutil.which("mpirun"):
        yield "mpi", ["mpirun", "--allow-run-as-root", "-n", "2", "--oversubscribe", PYTHON,
                      REAL + "/mpiloop.py", truth, "--steps", "100"]
    for case in ("03-gc-collect", "05-deque-replay", "19-optimizer-loop", "29-predict-in-loop"):
        path = os.path.join(SLOW, case, "sick.py")
        if os.path.exists(path):
            yield case, [PYTHON, path]


def own_cpu_s(pid):
    """Returns the CPU time of the first thread, which does all the work, of a process that has ended and
    was not waited for, without that of its children."""
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0]) / 1e9


def children_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(trainprof, command, work):
    """Measures one run; returns None if it failed."""
    out = os.path.join(work, "run")
    shutil.rmtree(out, ignore_errors=True)
    begin = time.monotonic()
    with subprocess.Popen([trainprof, "run", "-q", "-o", out, "--", *command],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=work) as child:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        own_s = own_cpu_s(child.pid)
        wall_s = time.monotonic() - begin
    if child.returncode != 0:
        return None
    before_s = children_s()
    printed = subprocess.run([trainprof, "report", "--format=json", out], check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    report_s = children_s() - before_s
    if printed.returncode != 0:
        return None
    report = json.loads(printed.stdout)
    if "collection" not in report:  # a job: its ranks share one recording
        report = json.loads(subprocess.run([trainprof, "report", "--format=json", "--rank=0", out], check=True,
                                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
    return {"own_s": own_s, "wall_s": wall_s, "ratio": own_s / wall_s, "report_s": report_s,
            "rate": report["collection"]["sample_rate_hz"], "whole": whole_ratio(report)}


def whole_ratio(report):
    metric = report["summary"]["metrics"].get("run.complete_stacks_ratio")
    return metric["value"] if metric else None


def print_row(name, which, runs):
    def median(key):
        values = [run[key] for run in runs if run[key] is not None]
        return statistics.median(values) if values else float("nan")
    print(f"{name:20} {which:5} {len(runs):3} runs {median('wall_s'):6.1f} s "
          f"{median('own_s') * 1000:7.0f} ms {median('ratio') * 100:6.2f} % "
          f"{median('report_s') * 1000:5.0f} ms "
          f"{median('rate'):6.1f}/s {median('whole') * 100:6.1f} %", flush=True)
    return median("ratio")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("trainprof")
    parser.add_argument("base", nargs="?")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=float)
    args = parser.parse_args()
    which = {"now": os.path.abspath(args.trainprof)}
    if args.base:
        which = {"base": os.path.abspath(args.base), **which}
    ratios = []
    print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs")
    print("program              which      runs   wall     own CPU  of wall   report  samples  "
          "whole stacks")
    with tempfile.TemporaryDirectory() as work:
        for name, command in programs(work):
            if args.only not in name:
                continue
            runs = {key: [] for key in which}
            for _ in range(args.rounds):
                for key, path in which.items():
                    result = measure(path, command, work)
                    if result:
                        runs[key].append(result)
            for key in which:
                if not runs[key]:
                    print(f"{name:20} {key:5} did not run")
                    continue
                ratio = print_row(name, key, runs[key])
                if key == "now":
                    ratios.append(ratio)
    print(f"load after: {os.getloadavg()[0]:.1f}")
    if not ratios:
        return 0
    median = statistics.median(ratios) * 100
    print(f"median of {len(ratios)} programs: {median:.2f} % of their wall time")
    return int(args.limit is not None and median > args.limit)


if __name__ == "__main__":
    sys.exit(main())
