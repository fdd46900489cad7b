# SPDX-License-Identifier: Apache-2.0
"""Programs whose stacks are hard to read: hard.py crowd|deep|forks|inner|gil|ends|counts. Prints the
expected functions, one line "pid tid name" each, and waits to be killed."""
import os
import signal
import sys
import threading
import time


def say(pid, tid, name):
    print(pid, tid, name, flush=True)


def crowd():
    """200 threads, each in a function of its own."""
    gate = threading.Event()
    for k in range(200):
        names = {}
        exec("def worker_%d(gate):\n    gate.wait()\n" % k, names)
        thread = threading.Thread(target=names["worker_%d" % k], args=(gate,), daemon=True)
        thread.start()
        say(os.getpid(), thread.native_id, "worker_%d" % k)
    time.sleep(1000)


def deep():
    """Ten thousand frames; the outermost ones have to be reported all the same."""
    sys.setrecursionlimit(30000)
    threading.stack_size(512 << 20)
    bottom = threading.Event()

    def recurse(n):
        if n == 0:
            bottom.set()
            time.sleep(1000)
        else:
            recurse(n - 1)

    def outermost():
        recurse(10000)

    thread = threading.Thread(target=outermost, daemon=True)
    thread.start()
    bottom.wait()
    say(os.getpid(), thread.native_id, "outermost")
    say(os.getpid(), thread.native_id, "recurse")
    time.sleep(1000)


def forks():
    """A child forked from a thread: its main thread is not the parent's main thread."""
    def in_child():
        while True:
            time.sleep(0.01)

    def worker():
        pid = os.fork()
        if pid == 0:
            in_child()
        say(pid, pid, "in_child")
        time.sleep(1000)

    threading.Thread(target=worker, daemon=True).start()
    time.sleep(1000)


def inner():
    """A function of a sub-interpreter."""
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    say(os.getpid(), os.getpid(), "inside")
    interpreters.run_string(interpreters.create(),
                            "import time\ndef inside():\n    time.sleep(1000)\ninside()\n")


def gil():
    """Two threads that compete for the GIL all the time."""
    def spin():
        while True:
            sum(range(50))

    thread = threading.Thread(target=spin, daemon=True)
    thread.start()
    say(os.getpid(), thread.native_id, "spin")
    spin()


def ends():
    """Starts threads and ends them while it is read; then ends itself at SIGUSR1."""
    over = threading.Event()
    signal.signal(signal.SIGUSR1, lambda number, frame: over.set())
    say(os.getpid(), os.getpid(), "ends")
    while not over.is_set():
        threads = [threading.Thread(target=lambda: sum(range(1000))) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def counts():
    """A loop of one line, 5 ms of CPU time per round, among variables that count nothing. The last of
    300 rounds continues."""
    def train():
        name = "train"
        limit = 300
        for step in range(limit):
            end = time.process_time() + 0.005
            while time.process_time() < end or step == 299:
                k = hash(name) % 1000
        say(limit, k >= 0, name)

    say(os.getpid(), os.getpid(), "train")
    train()


{"counts": counts, "crowd": crowd, "deep": deep, "forks": forks, "inner": inner, "gil": gil, "ends": ends}[sys.argv[1]]()
