#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times each export of a recording with a million intervals, and the page of a run of ten minutes.

export_speed.py BUILD_DIRECTORY [ROUNDS]: prints the median of ROUNDS (3) for each format, and fails
above 1.5 s for a format, 1 s and 150 KB compressed for the page. Times include reading the
recording. On a machine that does nothing else.
"""
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

EXPORT_S, PAGE_S, PAGE_KB = 1.5, 1.0, 150
MINUTES_5, MINUTES_10 = "300", "600"


def timed(command, path):
    """Wall and CPU seconds of the command, which writes the file."""
    begun = time.monotonic()
    with open(path, "wb") as out:
        child = subprocess.Popen(command, stdout=out)
        _, status, used = os.wait4(child.pid, 0)
    if status:
        sys.exit("%s: status %d" % (" ".join(command), os.waitstatus_to_exitcode(status)))
    return time.monotonic() - begun, used.ru_utime + used.ru_stime


def count_intervals(path):
    with open(path, encoding="utf-8") as trace:
        return sum(event["ph"] == "X" for event in json.load(trace)["traceEvents"])


class Table:
    def __init__(self, rounds):
        self.rounds = rounds
        self.failed = 0

    def row(self, name, command, path, limit_s, limit_kb=None):
        runs = [timed(command, path) for _ in range(self.rounds)]
        wall_s, cpu_s = (statistics.median(column) for column in zip(*runs))
        size = os.path.getsize(path)
        packed_kb = float("nan")
        if limit_kb:
            with open(path, "rb") as page:
                packed_kb = len(gzip.compress(page.read())) / 1000
        is_good = wall_s <= limit_s and not (limit_kb and packed_kb > limit_kb)
        self.failed += not is_good
        print("%s  %-12s %5.2f s wall  %5.2f s CPU  %7.1f MB%s"
              % ("pass" if is_good else "FAIL", name, wall_s, cpu_s, size / 1e6,
                 "  %5.1f KB compressed" % packed_kb if limit_kb else ""))


def main():
    build = sys.argv[1]
    trainprof = build + "/trainprof"
    table = Table(int(sys.argv[2]) if len(sys.argv) > 2 else 3)
    listed = subprocess.run([trainprof, "export", "--list"], check=True, stdout=subprocess.PIPE)
    formats = [line.split()[0] for line in listed.stdout.decode().splitlines()]
    with tempfile.TemporaryDirectory() as work:
        half, run, out = work + "/half", work + "/run", work + "/out"
        subprocess.run([build + "/bench/large_recording", half, MINUTES_5], check=True)
        subprocess.run([build + "/bench/large_recording", run, MINUTES_10], check=True)
        for name in formats:
            if name == "parquet":  # of a job of ranks: make proof-tables
                continue
            table.row(name, [trainprof, "export", "--to=" + name, half], out, EXPORT_S)
            if name == "chrome":
                print("      (%d intervals)" % count_intervals(out))
        table.row("html", [trainprof, "report", "--html", run], out, PAGE_S, PAGE_KB)
    return table.failed > 0


if __name__ == "__main__":
    sys.exit(main())
