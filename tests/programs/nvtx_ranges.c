/* SPDX-License-Identifier: Apache-2.0 */
/* Emits NVTX ranges: nvtx_ranges HOW THREADS RANGES. Each thread emits RANGES ranges "step n" with
 * a range "work" inside, without pauses. HOW: return; kill, exec (runs again once, then returns),
 * fork (two children emit ranges, too), signal (a handler emits ranges meanwhile). Prints the time
 * per range in ns. */
#include "../doubles/nvtx_client.h"

#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 64 };

static long n_ranges;

static double clock_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void *name_ranges(void *unused)
{
	char text[32];
	for (long i = 0; i < n_ranges; i++) {
		snprintf(text, sizeof(text), "step %ld", i);
		nvtx_push(text);
		nvtx_push("work");
		nvtx_pop();
		nvtx_pop();
	}
	return unused;
}

static void run_threads(long n_threads)
{
	pthread_t threads[MOST_THREADS];
	for (long i = 0; i < n_threads; i++)
		pthread_create(&threads[i], NULL, name_ranges, NULL);
	for (long i = 0; i < n_threads; i++)
		pthread_join(threads[i], NULL);
}

static void on_signal(int unused)
{
	(void)unused;
	nvtx_push("signal");
	nvtx_pop();
}

static void send_signals(void)
{
	const struct itimerspec often = {{0, 200000}, {0, 200000}};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	timer_t timer;
	on_signal(0); /* NVTX itself cannot be initialised twice at once */
	signal(SIGUSR1, on_signal);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
		timer_settime(timer, 0, &often, NULL);
}

static int fork_two(void)
{
	int n_well = 0;
	for (int i = 0; i < 2; i++) {
		int status = -1;
		pid_t pid = i ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
		if (pid == 0) {
			name_ranges(NULL);
			exit(0);
		}
		waitpid(pid, &status, 0);
		n_well += status == 0;
	}
	return n_well == 2 ? 0 : 1;
}

int main(int argc, char **argv)
{
	static char last[] = "return";
	if (argc < 4)
		return 2;
	long n_threads = strtol(argv[2], NULL, 10);
	n_ranges = strtol(argv[3], NULL, 10);
	if (strcmp(argv[1], "signal") == 0)
		send_signals();
	double begun_ns = clock_ns();
	run_threads(n_threads < MOST_THREADS ? n_threads : MOST_THREADS);
	printf("%.1f\n", (clock_ns() - begun_ns) / (2.0 * (double)(n_ranges * n_threads)));
	fflush(stdout);
	if (strcmp(argv[1], "kill") == 0) {
		usleep(2000000); /* the agent's thread gets its turn, on a busy machine too */
		kill(getpid(), SIGKILL);
	}
	if (strcmp(argv[1], "fork") == 0)
		return fork_two();
	if (strcmp(argv[1], "exec") == 0) {
		argv[1] = last;
		execv("/proc/self/exe", argv);
	}
	return 0;
}
