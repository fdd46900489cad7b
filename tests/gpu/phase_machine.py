# SPDX-License-Identifier: Apache-2.0
"""What machine this is: GPU, driver, CUPTI, frameworks, rights."""
import glob
import importlib.metadata
import os
import platform
import subprocess

from gpu_phase import BENCH, Line, Program, TRAINPROF, bench_command


def first_line(path):
    try:
        with open(path) as file:
            return file.readline().strip()
    except OSError as error:
        return error.strerror


def said(*command):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=20, check=False)
        return done.stdout.strip()
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)


def versions():
    for name in ("torch", "jax", "jaxlib", "triton", "cupy-cuda13x", "nvidia-cuda-cupti", "nvidia-nccl-cu13"):
        try:
            yield f"{name} {importlib.metadata.version(name)}"
        except importlib.metadata.PackageNotFoundError:
            yield f"{name} is not installed"


def main():
    line = Line()
    line.note(f"kernel {platform.release()}, {os.cpu_count()} CPUs, Python {platform.python_version()}")
    line.note(said(TRAINPROF, "--version"))
    program = Program(bench_command())
    line.note(f"{os.path.basename(BENCH)}: {program.wait()}")
    program.end()
    line.tell()
    line.note(said("nvidia-smi", "--query-gpu=name,driver_version,clocks.sm,clocks.mem,power.limit,memory.used",
                   "--format=csv,noheader"))
    for text in versions():
        line.note(text)
    for path in ("/proc/sys/kernel/yama/ptrace_scope", "/proc/sys/kernel/perf_event_paranoid",
                 "/proc/driver/nvidia/version"):
        line.note(f"{path}: {first_line(path)}")
    try:
        with open("/proc/driver/nvidia/params") as params:
            line.note(next((row.strip() for row in params if "ProfilingAdminOnly" in row),
                           "RmProfilingAdminOnly: not told"))
    except OSError as error:
        line.note(f"/proc/driver/nvidia/params: {error.strerror}")
    with open("/proc/self/status") as status:
        line.note(next((row.strip() for row in status if row.startswith("CapEff")), "no capabilities told"))
    for path in glob.glob("/usr/local/cuda*/**/libcupti.so.*", recursive=True)[:4]:
        line.note(path)
    line.note(said(TRAINPROF, "doctor", "--for=gpu", "--ascii", "--width=100")[:6000])
    line.tell()


main()
