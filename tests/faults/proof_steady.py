#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the memory of trainprof at a steady load: proof_steady.py BUILD SECONDS [FOLDER].

A C trainer with loaders and a Python training loop are measured at the same time, each with the
default options. Resident memory is read every 5 s. It may grow by at most 1 MiB after the first two
minutes.
"""
import os
import subprocess
import sys
import tempfile
import time

SETTLED_S = 120
EVERY_S = 5
KIB_MAX = 1024

# Two threads: a loader that hands batches over, and a loop that trains on them, 50 steps per second.
LOOP = """
import queue, sys, threading, time
until = time.monotonic() + float(sys.argv[1])
batches = queue.Queue(2)
def load():
    step = 0
    while time.monotonic() < until:
        time.sleep(0.018)
        batches.put([float(step + i) for i in range(8000)])
        step += 1
    batches.put(None)
def train(batch):
    return sum(x * 0.5 for x in batch)
threading.Thread(target=load).start()
step = 0
while (batch := batches.get()) is not None:
    train(batch)
    step += 1
    if step % 10 == 0:
        print("step", step, flush=True)
"""


def programs(build, folder, seconds):
    """Returns (name, command) of each program."""
    loop = os.path.join(folder, "loop.py")
    with open(loop, "w", encoding="utf-8") as file:
        file.write(LOOP)
    data = os.path.join(folder, "data")
    trainer = [f"{build}/programs/trainer", "--data", data, "--steps", "1000000", "--milliseconds",
               str(int(seconds * 1000)), "--workers", "2", "--sleep-us", "100000", "--checkpoint-every", "500",
               "--checkpoint-mb", "1", "--log", os.path.join(folder, "log"), "--checkpoint",
               os.path.join(folder, "checkpoint")]
    return [("trainer", trainer), ("python", [sys.executable, loop, str(seconds)])]


def resident_kib(pid):
    """Returns (all resident memory, the anonymous part), or None after the end."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            rows = dict(line.split(":", 1) for line in file)
        return int(rows["VmRSS"].split()[0]), int(rows["RssAnon"].split()[0])
    except (OSError, KeyError):
        return None


def main():
    build, seconds = os.path.abspath(sys.argv[1]), float(sys.argv[2])
    folder = sys.argv[3] if len(sys.argv) > 3 else tempfile.mkdtemp(prefix="trainprof-steady-")
    runs = []
    for name, command in programs(build, folder, seconds):
        recording = os.path.join(folder, name)
        run = subprocess.Popen([f"{build}/trainprof", "run", "-q", "--summary=none", "-o", recording, "--", *command],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        runs.append((name, recording, run, []))
    began = time.monotonic()
    while any(run.poll() is None for _, _, run, _ in runs):
        for _, _, run, memory in runs:
            # The last reading may be that of writing the end of the recording.
            now = resident_kib(run.pid) if run.poll() is None else None
            if now and time.monotonic() - began < seconds - EVERY_S:
                memory.append((time.monotonic() - began, *now))
        time.sleep(EVERY_S)
    failed = False
    for name, recording, run, memory in runs:
        with open(os.path.join(folder, f"{name}.tsv"), "w", encoding="ascii") as file:
            file.writelines(f"{at:.0f}\t{rss}\t{anonymous}\n" for at, rss, anonymous in memory)
        settled = [row for row in memory if row[0] <= SETTLED_S][-1:]
        later = [row for row in memory if row[0] > SETTLED_S]
        grown = max(row[1] for row in later) - settled[0][1] if later and settled else None
        read = subprocess.run([f"{build}/trainprof", "report", recording], capture_output=True, check=False)
        good = grown is not None and grown <= KIB_MAX and run.returncode == 0 and read.returncode == 0
        failed |= not good
        size = sum(entry.stat().st_size for entry in os.scandir(recording)) / 1e6
        print(f"{'ok' if good else 'FAILED':8}{name}: {seconds:.0f} s, {len(memory)} readings, {settled[0][1]} KiB after "
              f"{SETTLED_S} s, grows by {grown} KiB later (at most {KIB_MAX}); recording {size:.1f} MB; "
              f"statuses {run.returncode}, {read.returncode}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
