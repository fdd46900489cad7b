# SPDX-License-Identifier: Apache-2.0
"""Steps of known length: loop_clock.py STEPS MS FILE SHAPE

FILE gets the start of each step, in ns of CLOCK_MONOTONIC. SHAPE is the way in which the loop counts.
"""
import sys
import time

N, MS, FILE, SHAPE = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3], sys.argv[4]
times = []


def work():
    end = time.perf_counter() + MS / 1000
    while time.perf_counter() < end:
        pass


def begin():
    times.append(time.clock_gettime_ns(time.CLOCK_MONOTONIC))


def by_range():
    for i in range(N):
        begin()
        work()


def by_while():
    step = 0
    while step < N:
        step += 1
        begin()
        work()


def epoch(n):
    for i in range(n):
        begin()
        work()


def by_epochs():
    for e in range(N // 200):
        epoch(200)


def written_twice():
    i = 0
    while i < N:
        i = i + 1
        begin()
        work()
        i = i + 0


if SHAPE == "module":
    for i in range(N):
        begin()
        work()
else:
    {"range": by_range, "while": by_while, "epochs": by_epochs, "twice": written_twice}[SHAPE]()
with open(FILE, "w") as out:
    out.writelines("%d\n" % t for t in times)
