#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures trainprof with 500 busy threads on two CPUs, and with a program that sleeps.

proof_load.py BUILD. Prints a line per figure: ok or FAILED.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

SECONDS = 10
THREADS = 500
CPU_MAX = 0.05
MIB_MAX = 200

BUSY = r"""
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
static double until;
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static void *work(void *result)
{
	volatile double x = 1;
	while (now() < until)
		for (int i = 0; i < 100000; i++)
			x = x * 1.0000001 + 1e-9;
	return result;
}
int main(int argc, char **argv)
{
	static pthread_t threads[4096];
	int n = argc > 1 ? atoi(argv[1]) : 1;
	until = now() + (argc > 2 ? atof(argv[2]) : 1);
	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, work, NULL) != 0)
			return 2;
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
"""


def measure(build, folder, name, command):
    """Returns (seconds, CPU seconds of trainprof, its largest memory in MiB, report) of a run."""
    recording = os.path.join(folder, "recording-" + name)
    began = time.monotonic()
    run = subprocess.Popen([f"{build}/trainprof", "run", "-q", "--summary=none", "-o", recording, "--", *command],
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    own = most = 0
    while run.poll() is None:
        try:
            with open(f"/proc/{run.pid}/stat", encoding="ascii") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            with open(f"/proc/{run.pid}/status", encoding="ascii") as file:
                most = max([most] + [int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM")])
        except (OSError, IndexError):
            pass
        time.sleep(0.02)
    seconds = time.monotonic() - began
    said = subprocess.run([f"{build}/trainprof", "report", "--json", recording], capture_output=True, check=False)
    return seconds, own, most, json.loads(said.stdout or b"{}")


def losses(report):
    """Returns how many records the report says are lost, and how many its sources and gaps count."""
    collection = report["collection"]
    return (collection["records_lost"], sum(source.get("lost", 0) for source in collection["sources"]),
            sum(gap.get("lost", 0) for gap in collection["gaps"]))


def main():
    build = os.path.abspath(sys.argv[1])
    failed = False

    def judge(good, text):
        nonlocal failed
        failed |= not good
        print(f"{'ok' if good else 'FAILED':8}{text}", flush=True)

    with tempfile.TemporaryDirectory(prefix="trainprof-load-") as folder:
        source, program = os.path.join(folder, "busy.c"), os.path.join(folder, "busy")
        with open(source, "w", encoding="ascii") as file:
            file.write(BUSY)
        subprocess.run([os.environ.get("CC", "cc"), "-O1", "-pthread", "-o", program, source], check=True)
        cpus = ",".join(str(cpu) for cpu in sorted(os.sched_getaffinity(0))[:2])
        seconds, own, most, report = measure(build, folder, "busy",
                                             ["taskset", "-c", cpus, program, str(THREADS), str(SECONDS)])
        said, of_sources, of_gaps = losses(report)
        judge(own <= CPU_MAX * seconds, f"{THREADS} busy threads: own CPU time {own:.2f} s in {seconds:.1f} s, "
              f"{100 * own / seconds:.1f} % of a core (at most {100 * CPU_MAX:.0f} %), with the end")
        judge(most <= MIB_MAX, f"{THREADS} busy threads: memory {most:.0f} MiB (at most {MIB_MAX})")
        judge(said >= max(of_sources, of_gaps), f"{THREADS} busy threads: {said} records lost says the report; "
              f"{of_sources} by sources, {of_gaps} in gaps with a time")
        seconds, own, _, report = measure(build, folder, "sleep", ["sleep", "4"])
        verdict = str(report["summary"].get("verdict"))
        judge("overhead" not in verdict.lower(), f"run -- sleep 4: own CPU time {1000 * own:.0f} ms, verdict {verdict[:60]}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
