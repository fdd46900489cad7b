#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ends programs at random moments while NVIDIA's own CUPTI is found, starts, opens and closes.

cupti_ends.py BUILD CUPTIS N [FIRST]: CUPTIS has one folder for each version, with an unpacked wheel
in it (make fetch-cupti). Each of N programs, with seeds from FIRST on, starts CUDA on the null
driver with the agent loaded, and ends after a random time below 3 s in a random way; half of the
times are below 0.1 s. Half of the drivers are slow. A quarter of the agents collects from the
start, a quarter is requested to open and close windows, a quarter never collects, and a quarter is
attached to the program and collects.

The output of a program and its status must be the same as without the agent, and it may end 2 s
later than it wanted to. Every eighth program runs without the agent too: what these are late is
the machine's part, and is allowed besides. Prints the differences, the number of programs for
each version, and how late programs ended and how long their children took, with the agent and
without it. This script itself sees when a program has ended, so it must not run at idle priority.
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
HELD_UP_S = 2  # the agent's share of a late end
ALONE_EACH = 8  # one program of so many also runs without the agent
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


class Case:
    """A program, when and how it ends, and what it ends in the middle of."""

    def __init__(self, seed, has_agent):
        dice = random.Random(seed)
        self.seed = seed
        self.has_agent = has_agent
        self.version = dice.choice(VERSIONS)
        self.how = dice.choice(sorted(HOWS))
        self.ms = dice.randrange(3000) if dice.random() < 0.5 else dice.randrange(100)
        self.slow_ms = dice.choice([0, 0, 5, 60])
        self.linger_ms = dice.choice([0, 30])
        self.mode = dice.choice(["open", "windows", "idle", "attach"])
        self.dice = dice

    def __str__(self):
        agent = self.mode if self.has_agent else "without the agent"
        return (f"{self.version} {self.how} after {self.ms} ms, {self.slow_ms} ms a table, {agent} "
                f"(seed {self.seed})")

    def environment(self, build, cuptis, directory):
        own = dict(
            PATH=os.environ["PATH"],
            LD_LIBRARY_PATH=build + "/doubles/null",
            NULL_DRIVER_SLOW_MS=str(self.slow_ms),
            CUDA_ENDS_LINGER_MS=str(self.linger_ms),
            CUDA_ENDS_TIMES=directory + "/times",
        )
        if not self.has_agent:
            return own
        agent = os.environ.get("AGENT", build + "/libtrainprof-agent.so")
        own["TRAINPROF_CUPTI"] = glob.glob(f"{cuptis}/{self.version}/nvidia/*/lib/libcupti.so.1*")[0]
        if self.mode == "attach":
            own["CUDA_ENDS_ATTACH"] = agent
        else:
            own.update(CUDA_INJECTION64_PATH=agent, TRAINPROF_GPU_RINGS=directory,
                       TRAINPROF_GPU="1" if self.mode == "open" else "idle")
        return own


class Ending:
    """How a program ended: whether as without the agent, how late, how long its children took."""

    def __init__(self, case, status, output, ended_s, times):
        self.case = case
        self.is_same = (status, output) == HOWS[case.how]
        self.text = f"{case}: {status} {output!r}"
        self.late_s = self.children_s = 0
        if len(times) == 3:
            # Its last handler takes that long, where handlers run.
            linger_s = case.linger_ms / 1000 if HOWS[case.how][1] else 0
            self.late_s = ended_s - int(times[2]) * 1e-9 - linger_s
            self.children_s = int(times[1]) * 1e-9


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


def run_program(build, case, environment):
    """Returns its status and output, and when it ended."""
    program = subprocess.Popen([build + "/programs/cuda_ends", case.how, str(case.ms)], env=environment,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        output, _ = program.communicate(timeout=LIMIT_S)
        status = program.returncode
    except subprocess.TimeoutExpired:
        program.kill()
        output, _ = program.communicate()
        status = "hangs"
    return status, output, time.clock_gettime(time.CLOCK_MONOTONIC)


def run_one(build, cuptis, seed, has_agent):
    case = Case(seed, has_agent)
    with tempfile.TemporaryDirectory(prefix="trainprof-ends-") as directory:
        has_ended = threading.Event()
        reader = threading.Thread(target=open_and_close, args=(directory, has_ended, case.dice))
        if case.mode == "windows":
            reader.start()
        status, output, ended_s = run_program(build, case, case.environment(build, cuptis, directory))
        has_ended.set()
        if case.mode == "windows":
            reader.join()
        try:
            with open(directory + "/times") as file:
                times = file.read().split()
        except OSError:
            times = []
    return Ending(case, status, output, ended_s, times)


def most_of(endings, what):
    return max((getattr(ending, what) for ending in endings), default=0)


def print_late(endings):
    """Returns whether all ended in time."""
    with_agent = [ending for ending in endings if ending.case.has_agent]
    alone = [ending for ending in endings if not ending.case.has_agent]
    for what in ("late_s", "children_s"):
        values = sorted(getattr(ending, what) for ending in with_agent)
        latest = max(with_agent, key=lambda ending: getattr(ending, what))
        print(f"{what}: median {values[len(values) // 2]:.3f}, 99 % {values[len(values) * 99 // 100]:.3f}, "
              f"most {values[-1]:.3f}; alone at most {most_of(alone, what):.3f}; "
              f"{latest.case}")
    limit_s = HELD_UP_S + most_of(alone, "late_s")
    late = [ending for ending in with_agent if ending.late_s > limit_s]
    print(f"{len(late)} ended more than {limit_s:.2f} s later than they wanted to")
    return not late


def main():
    build, cuptis, n = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), int(sys.argv[3])
    first = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    endings = []
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        jobs = []
        for seed in range(first, first + n):
            jobs.append(pool.submit(run_one, build, cuptis, seed, True))
            if seed % ALONE_EACH == 0:
                jobs.append(pool.submit(run_one, build, cuptis, seed, False))
        for job in concurrent.futures.as_completed(jobs):
            endings.append(job.result())
            if not endings[-1].is_same:
                print(endings[-1].text, flush=True)
    for version in VERSIONS:
        own = [ending for ending in endings if ending.case.has_agent and ending.case.version == version]
        print(f"{version}: {len(own)} programs, {sum(not ending.is_same for ending in own)} ended otherwise")
    is_in_time = print_late(endings)
    sys.exit(not is_in_time or any(not ending.is_same for ending in endings))


main()
