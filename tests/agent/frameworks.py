#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts and ends the CUDA runtime, CuPy and JAX from PyPI on the driver that does nothing.

frameworks.py BUILD: run by a Python that has them. Each is imported, starts CUDA and ends, without
trainprof and under `trainprof run` with both ways of tracing. Output and status must be the same,
and under trainprof the driver must have loaded the agent. There is no GPU, so nothing is launched.
"""

import importlib.util
import os
import re
import subprocess
import sys
import tempfile

RUNTIME = """
import ctypes, glob, nvidia
path = glob.glob(nvidia.__path__[0] + "/*/lib/libcudart.so.1*")[0]
print(ctypes.CDLL(path).cudaGetDeviceCount(ctypes.byref(ctypes.c_int())))
"""
CUPY = """
import cupy
try:
    print(cupy.cuda.runtime.getDeviceCount())
except Exception as error:
    print(type(error).__name__, error)
"""
JAX = "import jax; print(jax.devices()[0].platform, float(jax.numpy.arange(5.0).sum()))"
TORCH = "import torch; print(torch.cuda.is_available(), torch.ones(3).sum().item())"
PROGRAMS = [("nvidia", "CUDA runtime", RUNTIME), ("cupy", "CuPy", CUPY), ("jax", "JAX", JAX),
            ("torch", "PyTorch", TORCH)]
ENDS = {"returns": "", "exits with 5": "\nimport sys; sys.exit(5)",
        "exits in os._exit": "\nimport os, sys; sys.stdout.flush(); os._exit(6)"}
WAYS = ["windows", "continuous"]
LIMIT_S = 120


def run(command, libraries):
    environment = dict(os.environ, LD_LIBRARY_PATH=libraries, TF_CPP_MIN_LOG_LEVEL="3")
    done = subprocess.run(command, env=environment, capture_output=True, text=True,
                          timeout=LIMIT_S, check=False)
    return done.returncode, done.stdout


def was_traced(recording):
    """True if the source was in use: the program started CUDA, which loaded the agent."""
    with open(recording + "/report.json", encoding="utf-8") as file:
        found = re.search(r'"id": *"cupti".*?"state": *"(\w+)"', file.read(), re.DOTALL)
    return bool(found) and found.group(1) == "used"


def main():
    build = os.path.abspath(sys.argv[1])
    n_passed = n_failed = n_skipped = 0
    with tempfile.TemporaryDirectory(prefix="trainprof-frameworks-") as directory:
        # trainprof looks for a driver by NVML; beside its double lies one of CUPTI.
        os.symlink(build + "/doubles/whole/libnvidia-ml.so.1", directory + "/libnvidia-ml.so.1")
        libraries = build + "/doubles/null:" + directory
        for module, name, text in PROGRAMS:
            if not importlib.util.find_spec(module):
                print(f"skipped: {name} is not installed")
                n_skipped += 1
                continue
            for end, more in ENDS.items():
                command = [sys.executable, "-c", text + more]
                alone = run(command, libraries)
                for way in WAYS:
                    recording = f"{directory}/{module}.{len(end)}.{way}"
                    traced = run([build + "/trainprof", "run", "--gpu-trace=" + way, "--output",
                                  recording, "--", *command], libraries)
                    is_same = traced[0] == alone[0] and traced[1].startswith(alone[1])
                    # A program that ends by _exit may be gone before the agent has said anything.
                    is_traced = "_exit" in end or was_traced(recording)
                    n_passed += is_same and is_traced
                    n_failed += not (is_same and is_traced)
                    if not (is_same and is_traced):
                        print(f"failed: {name} {end}, {way}: {traced} alone {alone}, {is_traced}")
    print(f"frameworks: {n_passed} passed, {n_failed} failed, {n_skipped} skipped")
    sys.exit(n_failed > 0)


main()
