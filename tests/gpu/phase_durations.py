# SPDX-License-Identifier: Apache-2.0
"""Durations of kernels from trainprof, against the device's own events, ncu and torch.profiler (V4)."""
import csv
import json
import os
import shutil
import subprocess

from gpu_phase import (HERE, Line, Program, SMALL, WORK, bench_command, measured, report_of, settle, torch_missing,
                       training_command)

TIMES = 5 if SMALL else 200
OFF_RATIO = 0.02
OFF_NS = 1000


def by_name(report):
    """Mean length of each kernel of a report, in ns."""
    return {kernel["name"]: kernel["time_ns"] / kernel["count"] for kernel in report.get("kernels", [])
            if kernel["count"]}


def compare(line, what, ours, theirs):
    """Both are {name: mean ns}. Claims agreement of all common names; the worst ones become figures."""
    names = sorted(set(ours) & set(theirs))
    if not names:
        line.claim(f"lengths agree with {what}", None, "no kernel that both know")
        return
    off = {name: ours[name] - theirs[name] for name in names}
    bad = [name for name in names if abs(off[name]) > max(OFF_NS, OFF_RATIO * theirs[name])]
    for name in names:
        line.figure(f"off_ns.{what}.{name[:80]}", off[name], "ns")
        line.figure(f"off_percent.{what}.{name[:80]}", 100 * off[name] / theirs[name], "%")
    if SMALL:
        line.claim(f"lengths agree with {what} within 2 % or 1 us", None, "not on a double")
    else:
        line.claim(f"lengths agree with {what} within 2 % or 1 us", not bad,
                   f"{len(names)} kernels, further off: {', '.join(bad)[:300] or 'none'}")


def against_events(line):
    """Returns our means, for later comparisons."""
    program = Program(measured("durations", ["--gpu-trace=continuous"], bench_command()))
    settle(program)
    told = program.ask(f"durations {TIMES}")["mean_ns"]
    program.end()
    ours = by_name(report_of("durations"))
    compare(line, "events", {name: ours[name] for name in ours if name in told}, told)
    return ours


def against_ncu(line, ours):
    if not shutil.which("ncu"):
        line.claim("lengths agree with ncu within 2 % or 1 us", None, "ncu is not here")
        return
    command = ["ncu", "--clock-control", "none", "--cache-control", "none", "--csv", "--print-units", "base",
               "--metrics", "gpu__time_duration.sum", "--kernel-name", "regex:bench_fma", *bench_command()]
    done = subprocess.run(command, input="durations 3\n", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=60, check=False)
    rows = done.stdout.splitlines()
    first = next((i for i, row in enumerate(rows) if '"Kernel Name"' in row), None)
    sums = {}
    for row in csv.DictReader(rows[first:]) if first is not None else []:
        sums.setdefault(row["Kernel Name"].split("(")[0], []).append(float(row["Metric Value"].replace(",", "")))
    if not sums:
        line.note("ncu told nothing: " + done.stdout[-400:])
    compare(line, "ncu", ours, {name: sum(values) / len(values) for name, values in sums.items()})


def kineto_means(path):
    """{name: mean ns} of the kernels in a trace of torch.profiler."""
    with open(path) as file:
        events = json.load(file)["traceEvents"]
    lengths = {}
    for event in events:
        if event.get("cat") == "kernel":
            lengths.setdefault(event["name"], []).append(1000 * event["dur"])
    return {name: sum(values) / len(values) for name, values in lengths.items()}


def against_torch(line):
    missing = torch_missing()
    if missing:
        line.claim("lengths agree with torch.profiler within 2 % or 1 us", None, missing)
        return
    words = ["ops", "--size", "64" if SMALL else "8192", "--steps", "40"]
    subprocess.run(measured("ops", ["--gpu-trace=continuous"], training_command(*words)),
                   stdout=subprocess.DEVNULL, check=True)
    trace = os.path.join(WORK, "ops-trace.json")
    code = ("import sys, torch; sys.argv = ['gpu_trainings.py'] + %r\nsys.path.insert(0, %r)\n"
            "import gpu_trainings\nwith torch.profiler.profile() as p: gpu_trainings.main()\n"
            "p.export_chrome_trace(%r)" % (words, HERE, trace))
    subprocess.run([training_command()[0], "-c", code], stdout=subprocess.DEVNULL, check=True)
    compare(line, "torch.profiler", by_name(report_of("ops")), kineto_means(trace))


def main():
    line = Line()
    ours = against_events(line)
    line.tell()
    against_torch(line)
    line.tell()
    against_ncu(line, ours)
    line.tell()


main()
