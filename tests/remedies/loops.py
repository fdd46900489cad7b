# SPDX-License-Identifier: Apache-2.0
"""A training loop with a known truth: loops.py KIND KEY=VALUE...

KIND of loader: torch (DataLoader), pool (multiprocessing), threads (a queue.Queue), inline. Keys:
workers, ahead (batches for each worker), wait and cpu (ms per batch), slow (each SLOWth batch takes
ten times as long), step_wait and step_cpu (ms), steps. Waits are sleeps, whose time does not depend
on other load. Prints the mean step by its own clock, without the first fifth.
"""
import multiprocessing
import queue
import sys
import threading
import time
import zlib

import numpy as np
import torch

torch.set_num_threads(1)
KIND = sys.argv[1]
KEYS = {"workers": 0, "ahead": 2, "wait": 0, "cpu": 0, "slow": 0, "step_wait": 0, "step_cpu": 0, "steps": 120}
KEYS.update((k, float(v)) for k, v in (a.split("=") for a in sys.argv[2:]))
WORKERS, AHEAD, STEPS = int(KEYS["workers"]), int(KEYS["ahead"]), int(KEYS["steps"])
PACKED = zlib.compress(bytes(range(256)) * 40)
MATRIX = np.random.rand(64, 64).astype("f")


def multiply():
    MATRIX @ MATRIX


def unpack():
    zlib.decompress(PACKED)


def work(cpu_ms, what):
    """That much CPU time of this thread."""
    end = time.thread_time() + cpu_ms / 1000
    while time.thread_time() < end:
        for _ in range(20):
            what()


def decode(i):
    factor = 10 if KEYS["slow"] and i % int(KEYS["slow"]) == 0 else 1
    for _ in range(4):
        if KEYS["wait"]:
            time.sleep(factor * KEYS["wait"] / 4000)
        work(factor * KEYS["cpu"] / 4, unpack)
    return np.zeros(64, "f")


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return STEPS

    def __getitem__(self, i):
        return decode(i)


def from_threads():
    jobs, made = queue.Queue(), queue.Queue(WORKERS * AHEAD)

    def make():
        while True:
            made.put(decode(jobs.get()))

    for i in range(STEPS):
        jobs.put(i)
    for _ in range(WORKERS):
        threading.Thread(target=make, daemon=True).start()
    for _ in range(STEPS):
        yield torch.from_numpy(made.get())


def from_inline():
    for i in range(STEPS):
        yield torch.from_numpy(decode(i))


def produce(jobs, made):
    while True:
        made.put(decode(jobs.get()))


def from_pool():
    jobs, made = multiprocessing.Queue(), multiprocessing.Queue(WORKERS * AHEAD)
    for i in range(STEPS):
        jobs.put(i)
    for _ in range(WORKERS):
        multiprocessing.Process(target=produce, args=(jobs, made), daemon=True).start()
    for _ in range(STEPS):
        yield torch.from_numpy(made.get())


def from_torch():
    more = {"prefetch_factor": AHEAD} if WORKERS else {}
    yield from torch.utils.data.DataLoader(Data(), batch_size=None, num_workers=WORKERS, **more)


def main():
    loader = {"torch": from_torch, "threads": from_threads, "pool": from_pool, "inline": from_inline}
    began = time.perf_counter()
    for step, x in enumerate(loader[KIND]()):
        work(KEYS["step_cpu"], multiply)
        if KEYS["step_wait"]:
            time.sleep(KEYS["step_wait"] / 1000)
        if step == STEPS // 5:
            began = time.perf_counter()
    print(f"STEP {(time.perf_counter() - began) / (STEPS - 1 - STEPS // 5):.6f}")


main()
