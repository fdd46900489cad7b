#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens the viewer on a terminal for a recording of ten minutes and 500 threads: the time until the
first screen, the time of each key, and the resident memory.

view_speed.py BUILD_DIRECTORY: fails above 0.5 s, 50 ms and 150 MB. On a machine that does nothing
else: what is measured includes the terminal of this script.
"""
import os
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from terminal import Screen  # noqa: E402

OPEN_S, KEY_S, RESIDENT_MB = 0.5, 0.05, 150

# A key, and what the screen shows when it was handled.
KEYS = [
    (b"2", "[2 Steps]"), (b"s", "[2 Steps]"), (b"o", "[2 Steps]"), (b"o", "[2 Steps]"),
    (b"\r", "> one step"), (b"n", "> one step"), (b"\x1b", "[2 Steps]"),
    (b"3", "[3 Processes]"), (b"s", "[3 Processes]"), (b"\r", "3/8 Processes >"),
    (b"\x1b", "[3 Processes]"), (b"4", "[4 Stacks]"), (b"d", "Calls:"), (b"i", "[4 Stacks]"),
    (b"t", "[4 Stacks]"), (b"f", "Stacks"), (b"7", "[7 Advice]"), (b"1", "[1 Overview]"),
    (b"\r", "1/8 Overview >"), (b"\x1b", "[1 Overview]"),
]


def resident(pid, name):
    for line in open("/proc/%d/status" % pid, encoding="ascii"):
        if line.startswith(name):
            return int(line.split()[1]) / 1024
    return float("nan")


def cpu_s(pid):
    """CPU time so far of a process whose name has no space."""
    fields = open("/proc/%d/stat" % pid, encoding="ascii").read().split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def last_output(s):
    """The time of the last output, once 0.1 s has passed without any: the next key must not be typed
    before, or both are drawn as one."""
    last = time.monotonic()
    n_before = -1
    while len(s.written) != n_before:
        n_before = len(s.written)
        s.read()
        if len(s.written) != n_before:
            last = time.monotonic()
    return last


def main():
    build = sys.argv[1]
    with tempfile.TemporaryDirectory() as work:
        subprocess.run([build + "/bench/large_recording", work + "/big"], check=True)
        begun = time.monotonic()
        s = Screen([build + "/trainprof", "view", work + "/big"], 50, 160)
        s.expect("[1 Overview]", "? help  q quit")
        opened_s = last_output(s) - begun
        opened_cpu_s = cpu_s(s.pid)
        worst_s, worst = 0, b""
        for key, expected in KEYS:
            n_before = len(s.written)
            begun = time.monotonic()
            os.write(s.fd, key)
            s.wait(lambda n=n_before, text=expected: len(s.written) > n and text in s.text(),
                   (key, expected))
            took_s = last_output(s) - begun
            if took_s > worst_s:
                worst_s, worst = took_s, key
        size, peak = resident(s.pid, "VmRSS"), resident(s.pid, "VmHWM")
        os.write(s.fd, b"Q")
        s.end()
    print("opened in %.2f s (%.2f s CPU), the slowest key %r took %.0f ms, %.0f MB resident, %.0f MB "
          "while reading" % (opened_s, opened_cpu_s, worst.decode(), worst_s * 1e3, size, peak))
    return opened_s > OPEN_S or worst_s > KEY_S or size > RESIDENT_MB


if __name__ == "__main__":
    sys.exit(main())
