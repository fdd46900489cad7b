#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how much longer cuInit() takes with the agent, beside what CUPTI itself takes to start.

cupti_start.py BUILD CUPTIS ROUNDS: for each version of CUPTI that was fetched (make fetch-cupti),
programs on the null driver start CUDA without the agent and with it, in turns, ROUNDS times each.
CUPTI's own start is a program that subscribes itself, beside one that only starts CUDA: the whole
program, because CUPTI starts in its first call and ends with the program. Fails where the slowest
cuInit() with the agent took 20 ms longer than the slowest without it, or the program ended
otherwise.
"""

import glob
import os
import statistics
import subprocess
import sys
import tempfile
import time

MOST_MS = 20
STATUS = 7


def run(build, program, environment):
    """Returns the seconds that the program took."""
    begun = time.monotonic()
    done = subprocess.run([build + "/programs/" + program[0]] + program[1:], stdout=subprocess.DEVNULL,
                          env=dict(LD_LIBRARY_PATH=build + "/doubles/null", **environment), check=False)
    if done.returncode != STATUS:
        sys.exit(f"{program} ended with {done.returncode}")
    return time.monotonic() - begun


def init_ms(build, library, has_agent):
    """Starts CUDA, and ends 50 ms later. Returns how long cuInit() took, and the whole program."""
    with tempfile.TemporaryDirectory(prefix="trainprof-start-") as directory:
        environment = {"CUDA_ENDS_TIMES": directory + "/times"}
        if has_agent:
            environment.update(CUDA_INJECTION64_PATH=build + "/libtrainprof-agent.so",
                               TRAINPROF_GPU_RINGS=directory, TRAINPROF_CUPTI=library)
        took_s = run(build, ["cuda_ends", "return", "50"], environment)
        with open(directory + "/times") as file:
            return int(file.read().split()[0]) * 1e-6, 1000 * took_s - 50


def try_version(build, version, library, rounds):
    """Returns whether cuInit() was fast enough."""
    times = {"alone": [], "agent": [], "program": [], "cupti": []}
    for _ in range(rounds):
        alone_ms, program_ms = init_ms(build, library, False)
        times["alone"].append(alone_ms)
        times["program"].append(program_ms)
        times["agent"].append(init_ms(build, library, True)[0])
        times["cupti"].append(1000 * run(build, ["cupti_calls", library, "version", "subscribe:a"], {}))
    median = {name: statistics.median(values) for name, values in times.items()}
    slowest = {name: max(values) for name, values in times.items()}
    print(f"{version}: cuInit {median['alone']:.3f} ms alone, {median['agent']:.3f} with the agent (slowest "
          f"{slowest['alone']:.3f} and {slowest['agent']:.3f}); CUPTI's own start and end "
          f"{median['cupti'] - median['program']:.0f} ms; {rounds} rounds", flush=True)
    return slowest["agent"] - slowest["alone"] <= MOST_MS


def main():
    build, cuptis, rounds = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), int(sys.argv[3])
    libraries = sorted(glob.glob(cuptis + "/*/nvidia/*/lib/libcupti.so.1*"))
    versions = {os.path.relpath(path, cuptis).split("/")[0]: path for path in libraries}
    if not versions:
        sys.exit("no CUPTI could be fetched")
    are_fast = [try_version(build, version, path, rounds) for version, path in versions.items()]
    sys.exit(not all(are_fast))


main()
