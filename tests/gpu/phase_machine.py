# SPDX-License-Identifier: Apache-2.0
"""Describes the machine: GPU, driver, CUPTI, frameworks, rights. Each item is queried separately and
reported at once, so that a broken or hanging one hides none of the earlier ones."""
import glob
import importlib.metadata
import os
import platform
import subprocess

from gpu_phase import BENCH, Line, Program, TRAINPROF, bench_command, run_for

PACKAGES = ("torch", "jax", "jaxlib", "triton", "cupy-cuda13x", "nvidia-cuda-cupti", "nvidia-nccl-cu13")
FILES = ("/proc/sys/kernel/yama/ptrace_scope", "/proc/sys/kernel/perf_event_paranoid", "/proc/driver/nvidia/version")
MOST_S = 6


def first_line(path):
    with open(path, encoding="utf-8") as file:
        return f"{path}: {file.readline().strip()}"


def line_with(path, word):
    with open(path, encoding="utf-8") as file:
        return next((row.strip() for row in file if word in row), f"{path}: no {word}")


def said(*command):
    return run_for(command, MOST_S).stdout.strip()


def version(name):
    try:
        return f"{name} {importlib.metadata.version(name)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{name} is not installed"


def bench():
    program = Program(bench_command())
    told = f"{os.path.basename(BENCH)}: {program.wait()}"
    program.end()
    return told


def questions():
    """Queries that may hang come last."""
    yield lambda: f"kernel {platform.release()}, {os.cpu_count()} CPUs, Python {platform.python_version()}"
    for path in FILES:
        yield lambda path=path: first_line(path)
    yield lambda: line_with("/proc/driver/nvidia/params", "ProfilingAdminOnly")
    yield lambda: line_with("/proc/self/status", "CapEff")
    yield lambda: " ".join(glob.glob("/usr/local/cuda*/**/libcupti.so.*", recursive=True)[:4]) or "no CUPTI of a toolkit"
    for name in PACKAGES:
        yield lambda name=name: version(name)
    yield lambda: said("nvidia-smi", "--query-gpu=name,driver_version,clocks.sm,clocks.mem,power.limit,memory.used",
                       "--format=csv,noheader")
    yield lambda: said(TRAINPROF, "--version")
    yield lambda: said(TRAINPROF, "doctor", "--for=gpu", "--ascii", "--width=100")[:6000]
    yield bench


def main():
    line = Line()
    for question in questions():
        try:
            line.note(question())
        except (OSError, RuntimeError, ValueError, subprocess.SubprocessError) as error:
            line.note(f"not known: {error}"[:400])
        line.tell()


main()
