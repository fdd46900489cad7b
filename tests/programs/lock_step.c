/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop that would mislead a sampler with a fixed period: lock_step MICROSECONDS CYCLES
 * [child|waits]. Each cycle takes that much CPU time, 30 % of it in first_phase() and the rest in
 * second_phase(). With "child" a child process does it; with "waits" each cycle begins with a sleep
 * three times as long, which would mislead a sampler that restarts its period while the program
 * waits. Prints the true share of the first phase.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double cpu_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static volatile double sink;

__attribute__((noinline)) static double first_phase(double until)
{
	double now;
	while ((now = cpu_now()) < until)
		for (int i = 0; i < 300; i++)
			sink = sink * 1.0000001 + 1e-9;
	return now;
}

__attribute__((noinline)) static double second_phase(double until)
{
	double now;
	while ((now = cpu_now()) < until)
		for (int i = 0; i < 300; i++)
			sink = sink * 1.0000002 + 1e-9;
	return now;
}

static void run(double cycle, long n, int waits)
{
	const struct timespec pause = {.tv_nsec = waits ? (long)(3 * cycle * 1e9) : 0};
	double begin = cpu_now();
	double at = begin;
	double first = 0;
	double now = begin;
	for (long i = 0; i < n; i++) {
		if (waits)
			nanosleep(&pause, NULL);
		double middle = first_phase(at + 0.3 * cycle);
		first += middle - now;
		at += cycle;
		now = second_phase(at);
	}
	printf("first %.4f\n", first / (now - begin));
}

int main(int argc, char **argv)
{
	double cycle = argc > 1 ? atof(argv[1]) * 1e-6 : 1e-3;
	long n = argc > 2 ? atol(argv[2]) : 1000;
	if (argc > 3 && strcmp(argv[3], "child") == 0) {
		pid_t pid = fork();
		if (pid > 0)
			return waitpid(pid, NULL, 0) == pid ? 0 : 1;
	}
	run(cycle, n, argc > 3 && strcmp(argv[3], "waits") == 0);
	return 0;
}
