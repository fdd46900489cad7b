#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures trainprof with 500 busy threads on two CPUs, and with a program that sleeps.

proof_load.py BUILD. Prints a line per figure: ok or FAILED.

The program knows how many records it causes: the marks that it writes, and its context switches,
which the kernel counts. trainprof stands still for two seconds meanwhile, so that rings overflow:
what it kept and what it counts as lost must add up to what was caused.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

INCLUDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "include")
SECONDS = 10
THREADS = 500
CPU_MAX = 0.05
MIB_MAX = 200
MARKS = 2000
STOPPED_S = 2

BUSY = r"""
#include "trainprof/mark.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
static double until;
static int n_marks;
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static void *work(void *result)
{
	volatile double x = 1;
	for (int i = 0; i < n_marks; i++)
		trainprof_step();
	while (now() < until)
	{
		for (int i = 0; i < 100000; i++)
			x = x * 1.0000001 + 1e-9;
		/* Ten thousand switches a second. */
		if (n_marks)
			nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
	}
	return result;
}
int main(int argc, char **argv)
{
	static pthread_t threads[4096];
	int n = argc > 1 ? atoi(argv[1]) : 1;
	until = now() + (argc > 2 ? atof(argv[2]) : 1);
	n_marks = argc > 3 ? atoi(argv[3]) : 0;
	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, work, NULL) != 0)
			return 2;
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	struct rusage used;
	getrusage(RUSAGE_SELF, &used);
	printf("%ld\n", used.ru_nvcsw + used.ru_nivcsw);
	return 0;
}
"""


def measure(build, folder, name, command, stop_at=None):
    """Runs the command, with trainprof stopped for STOPPED_S from stop_at on.

    Returns (seconds, CPU seconds of trainprof, its largest memory in MiB, report, output).
    """
    recording = os.path.join(folder, "recording-" + name)
    began = time.monotonic()
    run = subprocess.Popen([f"{build}/trainprof", "run", "-q", "--summary=none", "-o", recording, "--", *command],
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
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
        if stop_at is not None and time.monotonic() - began > stop_at:
            stop_at = None
            run.send_signal(signal.SIGSTOP)
            time.sleep(STOPPED_S)
            run.send_signal(signal.SIGCONT)
        time.sleep(0.02)
    seconds = time.monotonic() - began
    said = subprocess.run([f"{build}/trainprof", "report", "--json", recording], capture_output=True, check=False)
    return seconds, own, most, json.loads(said.stdout or b"{}"), run.stdout.read()


def source(report, name):
    """Returns how many records of a source were kept and lost."""
    found = next(row for row in report["collection"]["sources"] if row["id"] == name)
    return found["records"], found["lost"]


def main():
    build = os.path.abspath(sys.argv[1])
    failed = False

    def judge(good, text):
        nonlocal failed
        failed |= not good
        print(f"{'ok' if good else 'FAILED':8}{text}", flush=True)

    with tempfile.TemporaryDirectory(prefix="trainprof-load-") as folder:
        text, program = os.path.join(folder, "busy.c"), os.path.join(folder, "busy")
        with open(text, "w", encoding="ascii") as file:
            file.write(BUSY)
        subprocess.run([os.environ.get("CC", "cc"), "-O1", "-pthread", "-I", INCLUDE, "-o", program, text], check=True)
        cpus = ",".join(str(cpu) for cpu in sorted(os.sched_getaffinity(0))[:2])
        busy = ["taskset", "-c", cpus, program, str(THREADS), str(SECONDS)]
        seconds, own, most, _, _ = measure(build, folder, "busy", busy)
        judge(own <= CPU_MAX * seconds, f"{THREADS} busy threads: own CPU time {own:.2f} s in {seconds:.1f} s, "
              f"{100 * own / seconds:.1f} % of a core (at most {100 * CPU_MAX:.0f} %), with the end")
        judge(most <= MIB_MAX, f"{THREADS} busy threads: memory {most:.0f} MiB (at most {MIB_MAX})")
        _, _, _, report, output = measure(build, folder, "stopped", busy + [str(MARKS)], stop_at=1)
        kept, lost = source(report, "marks")
        judge(kept + lost == THREADS * MARKS, f"{THREADS} threads, trainprof stopped for {STOPPED_S} s: {THREADS * MARKS} "
              f"marks, {kept} kept and {lost} lost")
        switches = int(output)
        kept, lost = source(report, "perf")
        judge(0 < switches <= kept + lost, f"{THREADS} threads, trainprof stopped for {STOPPED_S} s: {switches} switches "
              f"by the kernel, {kept} stays and samples kept, {lost} records lost")
        said = report["collection"]["records_lost"]
        sums = sum(row["lost"] for row in report["collection"]["sources"])
        judge(said >= sums, f"the report says {said} records lost, its sources {sums}")
        _, own, _, report, _ = measure(build, folder, "sleep", ["sleep", "4"])
        verdict = str(report["summary"].get("verdict"))
        judge("overhead" not in verdict.lower(), f"run -- sleep 4: own CPU time {1000 * own:.0f} ms, verdict {verdict[:60]}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
