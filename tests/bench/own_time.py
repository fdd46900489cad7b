#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a Python program and reports its own cost to paired.c: own_time.py PROGRAM ARGUMENTS...

The second form of paired.c for programs whose profiler wants Python itself as its child. CPU time
is that of this process and of the workers that it waited for.
"""
import os
import resource
import runpy
import sys
import time


def cpu_s():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def main():
    begin = time.monotonic()
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name="__main__")
    if "PAIRED_FILE" in os.environ:
        with open(os.environ["PAIRED_FILE"], "w") as out:
            out.write(f"{time.monotonic() - begin:.9f} {cpu_s():.9f}\n")


main()
