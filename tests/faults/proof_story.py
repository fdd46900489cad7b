#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training job in a terminal and everything that happens to it: proof_story.py BUILD [STOP_SECONDS].

A shell with job control runs a job of tests/real under trainprof. The job is stopped by Ctrl-Z and
continued, the disk of the recording is filled and freed, trainprof is killed, attached again, and
interrupted. The reports must have the stop and the full disk at their true times, the end of the
first recording where trainprof was killed, and begin and end of the second; the job must write the
log that it writes alone.
PYTHON names a Python with PyTorch. As root, for a small disk.
"""
import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
JOB = os.path.join(HERE, "..", "real", "loops.py")
# The same numbers in each run.
SEEDED = """import os, runpy, sys, torch
torch.manual_seed(1)
sys.argv = sys.argv[1:]
sys.path.insert(0, os.path.dirname(sys.argv[0]))
runpy.run_path(sys.argv[0], run_name="__main__")
"""
DISK_BYTES = 24 << 20
# From its first step to the interrupt the job runs for 26 s, and then has to run on.
JOB_S = 50
AWAY_S = 0.7
RETRY_S = 2.0


class Terminal:
    """A shell in a terminal of its own; what it prints is kept."""

    def __init__(self, folder, environment):
        self.text = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            # A script in the background ignores them, and so would all that it starts.
            for number in (signal.SIGINT, signal.SIGQUIT):
                signal.signal(number, signal.SIG_DFL)
            os.chdir(folder)
            os.execvpe("bash", ["bash", "--norc", "-i"], dict(environment, PS1="$ "))
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while True:
            try:
                got = os.read(self.fd, 4096)
            except OSError:
                return
            if not got:
                return
            self.text += got.decode(errors="replace")

    def type(self, keys):
        os.write(self.fd, keys.encode())
        return time.time()


def wait_for(condition, what, seconds=120):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise TimeoutError(f"never: {what}")


def process(pattern):
    found = subprocess.run(["pgrep", "-f", pattern], capture_output=True, text=True, check=False).stdout.split()
    return [int(pid) for pid in found]


def fill(disk, seconds):
    """Fills the disk for a while; returns when it was full and when it was free again."""
    path = os.path.join(disk, "fill")
    with open(path, "wb", buffering=0) as file:
        full = time.time()
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                file.write(bytes(65536))
            except OSError:
                time.sleep(0.01)
    os.unlink(path)
    return full, time.time()


def play(folder, build, python, stop_s, steps):
    """Does everything; returns the times at which it happened."""
    disk = os.path.join(folder, "disk")
    os.mkdir(disk)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "none", disk], check=True)
    environment = dict(os.environ, PATH=f"{build}:{os.environ['PATH']}", OMP_NUM_THREADS="1")
    terminal, at = Terminal(folder, environment), {}
    truth = os.path.join(folder, "measured.truth")
    program = f"{python} {os.path.join(folder, 'seeded.py')} {JOB} prints {truth}"
    at["start"] = terminal.type(f"trainprof run -q --summary=none -o {disk}/first -- {program} --steps {steps}\n")
    log = truth + ".log"
    wait_for(lambda: os.path.exists(log) and os.path.getsize(log) > 2000, "the job prints")
    time.sleep(4)
    at["stop"] = terminal.type("\x1a")
    wait_for(lambda: "Stopped" in terminal.text, "the shell says that the job is stopped")
    time.sleep(stop_s)
    at["continue"] = terminal.type("fg\n")
    time.sleep(4)
    at["full"], at["free"] = fill(disk, 6)
    time.sleep(4)
    measurer = process(f"trainprof run -q --summary=none -o {disk}/first")[0]
    pid = process("^" + program)[-1]
    at["kill"] = time.time()
    os.kill(measurer, 9)
    wait_for(lambda: "Killed" in terminal.text, "the shell says that trainprof is killed")
    at["attach"] = terminal.type(f"trainprof attach -q --summary=none -o {disk}/second {pid}\n")
    # A busy machine takes a while to begin.
    wait_for(lambda: os.path.exists(os.path.join(disk, "second", "records.tpr")), "the second recording begins")
    time.sleep(8)
    at["interrupt"] = terminal.type("\x03")
    wait_for(lambda: not process("^" + program), "the job ends", 300)
    terminal.type("exit\n")
    return at, terminal.text


def report(build, recording, *how):
    done = subprocess.run([f"{build}/trainprof", "report", *how, recording], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"report of {recording}: {done.stderr}")
    return done.stdout


def gaps_of(said):
    """Returns (reason, begin, end) of the gaps of a report."""
    return [(gap["reason"], gap["start_ns"] / 1e9, gap["end_ns"] / 1e9) for gap in said["collection"]["gaps"]]


def length_of(said):
    """Returns how long a recording lasted. Its duration leaves stops out, those of trainprof too."""
    return said["run"]["duration_ns"] / 1e9 + sum((gap["end_ns"] - gap["start_ns"]) / 1e9
                                                  for gap in said["collection"]["gaps"] if gap["source"] == "stops")


def steps_of(seconds, command, environment):
    """Returns how many steps the job takes in so many seconds, from the difference of two short runs."""
    took = []
    for steps in (20, 80):
        began = time.monotonic()
        subprocess.run([*command, "--steps", str(steps)], check=True, env=environment)
        took.append(time.monotonic() - began)
    return int(seconds * 60 / max(took[1] - took[0], 0.1))


def started(recording):
    """Returns the time of the wall clock at which the recording began."""
    with open(os.path.join(recording, "manifest.json"), encoding="utf-8") as file:
        return int(json.load(file)["run"]["started_wall_ns"]) / 1e9


def main():
    build = os.path.abspath(sys.argv[1])
    stop_s = float(sys.argv[2]) if len(sys.argv) > 2 else 60
    python = os.environ.get("PYTHON", "/usr/bin/python3")
    if os.geteuid() != 0 or subprocess.run([python, "-c", "import torch"], capture_output=True, check=False).returncode:
        print("skip: needs root, and PYTHON with PyTorch")
        return 0
    failed = False

    def judge(good, text):
        nonlocal failed
        failed |= not good
        print(f"{'ok' if good else 'FAILED':8}{text}", flush=True)

    folder = tempfile.mkdtemp(prefix="trainprof-story-")
    disk = os.path.join(folder, "disk")
    try:
        with open(os.path.join(folder, "seeded.py"), "w", encoding="ascii") as file:
            file.write(SEEDED)
        alone = os.path.join(folder, "alone")
        command = [python, os.path.join(folder, "seeded.py"), JOB, "prints", alone]
        environment = dict(os.environ, OMP_NUM_THREADS="1")
        steps = steps_of(JOB_S, command, environment)
        at, said = play(folder, build, python, stop_s, steps)
        subprocess.run([*command, "--steps", str(steps)], check=True, env=environment)
        first, second = (json.loads(report(build, os.path.join(disk, name), "--json")) for name in ("first", "second"))
        gaps = gaps_of(first)
        for name, said_of in (("first", first), ("second", second)):
            for reason, begin, end in gaps_of(said_of):
                print(f"        {name}: {begin:.2f} to {end:.2f} s: {reason}")
        print("        by the clock of this script: " +
              ", ".join(f"{name} {value - at['start']:.2f} s" for name, value in at.items()))
        stops = [gap for gap in gaps if "stopped by a signal" in gap[0]]
        judge(len(stops) == 1 and abs(stops[0][1] - (at["stop"] - at["start"])) < AWAY_S and
              abs(stops[0][2] - (at["continue"] - at["start"])) < AWAY_S, "the stop has its true times")
        full = [gap for gap in gaps if gap[0] == "the disk was full"]
        # Linux still writes data that fits into the last page, and trainprof retries once per second.
        judge(len(full) == 1 and abs(full[0][1] - (at["full"] - at["start"])) < RETRY_S and
              abs(full[0][2] - (at["free"] - at["start"])) < RETRY_S, "the full disk has its true times")
        # A row of the table of gaps begins with a time.
        listed = [line.strip() for line in report(build, os.path.join(disk, "first"), "--full").splitlines()
                  if re.match(r"  \d.*(stopped by a signal|the disk was full)", line)]
        judge(len(listed) == 2, "report --full lists them: " + " | ".join(listed))
        ended = length_of(first)
        judge(first["run"]["is_partial"] and abs(ended - (at["kill"] - at["start"])) < RETRY_S,
              f"the first recording ends at {ended:.2f} s, trainprof was killed at {at['kill'] - at['start']:.2f} s")
        began, watched = started(os.path.join(disk, "second")), length_of(second)
        judge(at["attach"] <= began and abs(began + watched - at["interrupt"]) < AWAY_S,
              f"attached from {began - at['start']:.2f} s to {began + watched - at['start']:.2f} s; typed at "
              f"{at['attach'] - at['start']:.2f} s, interrupted at {at['interrupt'] - at['start']:.2f} s; "
              f"{second['run']['end']['kind']}")
        with open(alone + ".log", "rb") as one, open(os.path.join(folder, "measured.truth.log"), "rb") as other:
            numbers = [re.sub(rb"\s+", b" ", file.read()) for file in (one, other)]
        judge(numbers[0] == numbers[1], f"the job's log is as without trainprof ({len(numbers[0])} bytes)")
        print("        the terminal said: " + " | ".join(line.strip() for line in said.splitlines() if line.strip())[-600:])
    finally:
        subprocess.run(["umount", "-l", disk], check=False, stderr=subprocess.DEVNULL)
    return failed


if __name__ == "__main__":
    sys.exit(main())
