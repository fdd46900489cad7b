# SPDX-License-Identifier: Apache-2.0
"""Collects material for later tests: names of kernels, NVTX ranges and NCCL's calls as reported, and
CUPTI's buffers as delivered (V18, V19, V23, V24)."""
import gzip
import os
import shutil
import subprocess

from gpu_phase import (HERE, Line, Program, WORK, bench_command, measured, metric, report_of, settle,
                       torch_missing, training_command)

AGENT = os.path.join(HERE, "libtrainprof-capture.so")
OUT = os.environ.get("VERIFY_OUT", WORK)


def keep(path, name):
    """Stores a packed copy of the file with the results."""
    with open(path, "rb") as source, gzip.open(os.path.join(OUT, name), "wb") as target:
        shutil.copyfileobj(source, target)


def names_told(line, reports):
    kernels = {}
    for report in reports:
        for kernel in report.get("kernels", []):
            row = kernels.setdefault(kernel["name"], [0, kernel["pattern"], kernel["class"], kernel["is_weak"]])
            row[0] += kernel["time_ns"]
    path = os.path.join(WORK, "kernels.tsv")
    with open(path, "w") as file:
        for name, row in sorted(kernels.items(), key=lambda item: -item[1][0]):
            print(*row, name, sep="\t", file=file)
    keep(path, "kernels.tsv.gz")
    total = sum(row[0] for row in kernels.values())
    unknown = sum(row[0] for row in kernels.values() if row[1] == "unknown")
    line.figure("kernels.names", len(kernels), "1")
    line.figure("kernels.unknown_ratio", unknown / total if total else None, "ratio")


def workloads():
    """Programs whose kernels have many names."""
    if torch_missing():
        return
    yield "names-gpt", training_command("gpt", "--steps", "5", "--batch", "4")
    yield "names-resnet", training_command("resnet", "--steps", "5", "--batch", "32")
    yield "names-compiled", training_command("tiny-compiled", "--count", "20", "--steps", "5")


def names(line):
    program = Program(measured("names-bench", ["--gpu-trace=continuous"], bench_command()))
    settle(program)
    for command in ("launch 100", "durations 2", "copy 1", "upload 1", "churn 2"):
        program.ask(command)
    program.end()
    reports = [report_of("names-bench")]
    for recording, command in workloads():
        done = subprocess.run(measured(recording, ["--gpu-trace=continuous"], command), stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        if done.returncode:
            line.note(f"{recording}: status {done.returncode}: {done.stderr[-200:]}")
        else:
            reports.append(report_of(recording))
    names_told(line, reports)


def capture(line):
    """Buffers of a program that launches, copies, waits and replays a graph, as CUPTI delivers them."""
    if not os.path.exists(AGENT):
        line.claim("CUPTI's buffers are kept", None, "the agent that keeps them is not in this folder")
        return
    path = os.path.join(WORK, "buffers")
    env = {"TRAINPROF_AGENT": AGENT, "TRAINPROF_CAPTURE": path}
    program = Program(measured("captured", ["--gpu-trace=continuous"], bench_command()), env)
    settle(program)
    for command in ("launch 5000", "nodes 50", "graph 20", "copy 1", "upload 2", "churn 4", "durations 2"):
        program.ask(command)
    program.end()
    kept = os.path.exists(path) and os.path.getsize(path)
    line.claim("CUPTI's buffers are kept", kept)
    if kept:
        keep(path, "buffers.capture.gz")
        line.figure("buffers.bytes", kept, "bytes")


def ranges(line):
    missing = torch_missing()
    if missing:
        line.note(f"NVTX and NCCL: not tried, {missing}")
        return
    done = subprocess.run(measured("nvtx", ["--gpu-trace=continuous"], training_command("nvtx", "--steps", "40")),
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    if done.returncode:
        line.note(f"nvtx: status {done.returncode}: {done.stderr[-300:]}")
        return
    report = report_of("nvtx")
    steps = report["steps"]
    line.note(f"nvtx: {steps.get('total_count')} steps by {steps.get('found_by')}, 40 were marked")
    line.claim("steps that NVTX marks are found", steps.get("total_count") == 40, str(steps.get("reason", "")))
    line.figure("communication.bytes_per_step", metric(report, "communication.bytes_per_step"), "bytes")


def main():
    line = Line()
    capture(line)
    line.tell()
    names(line)
    line.tell()
    ranges(line)
    line.claim("NCCL's profiler plug-in is loaded", None, "trainprof has no such plug-in")
    line.tell()


if __name__ == "__main__":
    main()
