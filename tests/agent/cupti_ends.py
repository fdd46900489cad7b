#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ends programs at random moments while NVIDIA's own CUPTI is found, starts, opens and closes.

cupti_ends.py BUILD CUPTIS N: CUPTIS has one folder for each version, with an unpacked wheel in it
(make fetch-cupti). Each of N programs starts CUDA on the null driver with the agent loaded, and
ends after a random time below 3 s in a random way; half of the times are below 0.1 s. Half of the
drivers are slow. A third of the agents collects from the start, a third is requested to open and
close windows, a third never collects. The output of a program and its status must be the same as
without the agent. Prints the differences, and the number of programs for each version.
"""

import concurrent.futures
import glob
import mmap
import os
import random
import struct
import subprocess
import sys
import tempfile
import threading
import time

VERSIONS = ["12.4.127", "12.8.90", "13.0.85", "13.2.75", "13.3.75"]
AT_ONCE = 12
LIMIT_S = 30
WANTED_AT = 200  # in the header of a ring: the reader's request
IDLE, EVENTS = 1, 2
HOWS = {
    "return": (7, "last\nfirst\n"),
    "exit": (7, "last\nfirst\n"),
    "thread": (7, "last\nfirst\n"),
    "_exit": (7, ""),
    "abort": (-6, ""),
    "kill": (-9, ""),
    "exec": (7, ""),
    "fork": (7, "last\nfirst\n"),
}


def open_and_close(directory, has_ended, dice):
    """Acts as a reader that requests events now and then."""
    while not has_ended.wait(dice.uniform(0.001, 0.05)):
        for path in glob.glob(directory + "/*.ring"):
            try:
                with open(path, "r+b") as file, mmap.mmap(file.fileno(), 4096) as header:
                    wanted = dice.choice([IDLE, EVENTS])
                    header[WANTED_AT : WANTED_AT + 4] = struct.pack("I", wanted)
            except (OSError, ValueError):
                pass


def run_one(build, cuptis, number):
    dice = random.Random(number)
    version = dice.choice(VERSIONS)
    how = dice.choice(sorted(HOWS))
    ms = dice.randrange(3000) if dice.random() < 0.5 else dice.randrange(100)
    slow_ms = dice.choice([0, 0, 5, 60])
    linger_ms = dice.choice([0, 30])
    mode = dice.choice(["open", "windows", "idle"])
    with tempfile.TemporaryDirectory(prefix="trainprof-ends-") as directory:
        environment = dict(
            PATH=os.environ["PATH"],
            LD_LIBRARY_PATH=build + "/doubles/null",
            CUDA_INJECTION64_PATH=os.environ.get("AGENT", build + "/libtrainprof-agent.so"),
            TRAINPROF_GPU_RINGS=directory,
            TRAINPROF_GPU="1" if mode == "open" else "idle",
            TRAINPROF_CUPTI=glob.glob(f"{cuptis}/{version}/nvidia/*/lib/libcupti.so.1*")[0],
            NULL_DRIVER_SLOW_MS=str(slow_ms),
            CUDA_ENDS_LINGER_MS=str(linger_ms),
        )
        program = subprocess.Popen(
            [build + "/programs/cuda_ends", how, str(ms)], env=environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        has_ended = threading.Event()
        reader = threading.Thread(target=open_and_close, args=(directory, has_ended, dice))
        if mode == "windows":
            reader.start()
        begun = time.monotonic()
        try:
            output, _ = program.communicate(timeout=LIMIT_S)
            status = program.returncode
        except subprocess.TimeoutExpired:
            program.kill()
            output, _ = program.communicate()
            status = "hangs"
        has_ended.set()
        if mode == "windows":
            reader.join()
    late_s = time.monotonic() - begun - (ms + linger_ms) / 1000
    is_same = (status, output) == HOWS[how]
    text = f"{version} {how} after {ms} ms, {slow_ms} ms a table, {mode} (seed {number})"
    return version, is_same, f"{text}: {status} {output!r}", late_s


def main():
    build, cuptis, n = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), int(sys.argv[3])
    first = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    counts = {}
    latest_s, latest = 0, ""
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        jobs = [pool.submit(run_one, build, cuptis, first + i) for i in range(n)]
        for job in concurrent.futures.as_completed(jobs):
            version, is_same, text, late_s = job.result()
            ran, failed = counts.get(version, (0, 0))
            counts[version] = (ran + 1, failed + (not is_same))
            latest_s, latest = max((latest_s, latest), (late_s, text))
            if not is_same:
                print(text, flush=True)
    for version in sorted(counts):
        print(f"{version}: {counts[version][0]} programs, {counts[version][1]} ended otherwise")
    print(f"the latest ended {latest_s:.1f} s after it wanted to: {latest}")
    sys.exit(any(failed for _, failed in counts.values()))


main()
