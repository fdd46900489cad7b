/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the double of libcuda for work: gpu_launcher END THREADS UNITS RATE WAIT_MS. Each thread
 * does UNITS (a multiple of 64) units of work, all threads together RATE per second (0 = as fast as
 * possible), after it waited at most WAIT_MS for a listener. Of 64 units 57 are plain launches; the
 * others are a launch by the driver, a graph node, an event, a copy, a copy between devices, a fill
 * and a wait. Prints how long it took. END: return, exit, _exit, kill, abort, exec (runs again
 * once, then returns), fork (two children return), forks (each thread forks a child that exits, in
 * the middle of its work), hang (until it is killed), idle (no work at all).
 *
 * $OTHER_TOOL is a tool that is linked with CUPTI (other_tool.c). It is loaded at the beginning, or
 * with $OTHER_TOOL_LATE right before it starts. It starts to use CUPTI when the work is done: by
 * subscribing, or with $OTHER_TOOL_TAKES without. Then all the work is done once more, and the tool
 * stops, unless $OTHER_TOOL_STAYS is set. Prints what CUPTI returned to it, how long that took, and
 * how many kernels it saw.
 */
#include "../doubles/cuda_double.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TURN = 64, MOST_THREADS = 64 };

static struct {
	int (*init)(unsigned);
	void (*work)(const struct cuda_double_work *);
	const int *is_heard;
	long n_units;
	double unit_s;  /* per thread */
	long fork_at;   /* the unit before which each thread forks; negative: none forks */
	int n_bad_ends; /* of children of threads */
} plan = {.fork_at = -1};

static double clock_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void nap(double seconds)
{
	struct timespec time = {.tv_sec = (time_t)seconds,
				.tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
	nanosleep(&time, NULL);
}

static enum cuda_double_what what_of(long unit)
{
	switch (unit % TURN) {
	case 0:
		return CUDA_DOUBLE_LAUNCH_DRIVER;
	case 1:
		return CUDA_DOUBLE_LAUNCH_GRAPH;
	case 2:
		return CUDA_DOUBLE_QUERY;
	case 60:
		return CUDA_DOUBLE_COPY;
	case 61:
		return CUDA_DOUBLE_PEER;
	case 62:
		return CUDA_DOUBLE_SET;
	case 63:
		return CUDA_DOUBLE_SYNC;
	default:
		return CUDA_DOUBLE_LAUNCH;
	}
}

static void fork_one(void)
{
	int status = -1;
	pid_t pid = fork();
	if (pid == 0)
		exit(0);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
		__atomic_fetch_add(&plan.n_bad_ends, 1, __ATOMIC_RELAXED);
}

static void *work(void *stream)
{
	static const char *const names[] = {"_Z4gemmPf", "_Z4reluPf", "_Z7softmaxPf",
					    "_Z9layernormPf"};
	double begun_s = clock_s();
	for (long i = 0; i < plan.n_units; i++) {
		struct cuda_double_work unit = {
			.what = what_of(i),
			.name = names[i % 4],
			.bytes = 4096,
			.took_ns = 1500,
			.stream = (uint32_t)(uintptr_t)stream,
		};
		if (i == plan.fork_at)
			fork_one();
		plan.work(&unit);
		double late_s = clock_s() - begun_s - (double)(i + 1) * plan.unit_s;
		if (late_s < -0.001)
			nap(-late_s);
	}
	return NULL;
}

static void find_symbol(void *library, const char *name, void *out)
{
	void *symbol = dlsym(library, name);
	memcpy(out, &symbol, sizeof(symbol));
}

static int load(void)
{
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
	if (!cuda)
		return 0;
	find_symbol(cuda, "cuInit", &plan.init);
	find_symbol(cuda, "cuda_double_work", &plan.work);
	find_symbol(cuda, "cuda_double_is_heard", &plan.is_heard);
	return plan.init && plan.work && plan.is_heard;
}

static void run_threads(long n_threads)
{
	pthread_t threads[MOST_THREADS];
	for (long i = 0; i < n_threads; i++)
		pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)(i + 7));
	for (long i = 0; i < n_threads; i++)
		pthread_join(threads[i], NULL);
}

/* One child by the library function and one by the system call itself; both end by exit(). */
static int fork_two(void)
{
	int n_well = 0;
	for (int i = 0; i < 2; i++) {
		int status = -1;
		pid_t pid = i ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
		if (pid == 0) {
			run_threads(1);
			exit(0);
		}
		waitpid(pid, &status, 0);
		n_well += status == 0;
	}
	return n_well == 2 ? 0 : 1;
}

static bool is_set(const char *name)
{
	const char *value = getenv(name);
	return value && *value;
}

static void *load_tool(bool is_time)
{
	return is_time && is_set("OTHER_TOOL") ? dlopen(getenv("OTHER_TOOL"), RTLD_LAZY) : NULL;
}

static void try_tool(void *tool, long n_threads)
{
	int (*begin)(int);
	uint64_t (*leave)(void);
	find_symbol(tool, "other_tool_begin", &begin);
	find_symbol(tool, "other_tool_end", &leave);
	double begun_s = clock_s();
	int result = begin(!is_set("OTHER_TOOL_TAKES"));
	double took_s = clock_s() - begun_s;
	run_threads(n_threads);
	uint64_t n_kernels = is_set("OTHER_TOOL_STAYS") ? 0 : leave();
	printf("tool %d after %.6f saw %llu\n", result, took_s, (unsigned long long)n_kernels);
	fflush(stdout);
}

static int end(const char *how, char **argv)
{
	if (strcmp(how, "exit") == 0)
		exit(0);
	if (strcmp(how, "_exit") == 0)
		_exit(0);
	if (strcmp(how, "kill") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "fork") == 0)
		return fork_two();
	if (strcmp(how, "forks") == 0)
		return plan.n_bad_ends != 0;
	if (strcmp(how, "hang") == 0)
		for (;;)
			pause();
	if (strcmp(how, "exec") == 0) {
		static char last[] = "return";
		argv[1] = last;
		execv("/proc/self/exe", argv);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 6 || !load())
		return 2;
	bool is_late = is_set("OTHER_TOOL_LATE");
	void *tool = load_tool(!is_late);
	long n_threads = strtol(argv[2], NULL, 10);
	double rate = strtod(argv[4], NULL);
	plan.n_units = strtol(argv[3], NULL, 10);
	plan.unit_s = rate > 0 ? (double)n_threads / rate : 0;
	if (strcmp(argv[1], "forks") == 0)
		plan.fork_at = plan.n_units / 2;
	double limit_s = clock_s() + strtod(argv[5], NULL) / 1000;
	double asked_s = clock_s();
	plan.init(0);
	double init_s = clock_s() - asked_s;
	while (!__atomic_load_n(plan.is_heard, __ATOMIC_ACQUIRE) && clock_s() < limit_s)
		nap(0.001);
	double begun_s = clock_s();
	n_threads = n_threads < MOST_THREADS ? n_threads : MOST_THREADS;
	if (strcmp(argv[1], "idle") != 0)
		run_threads(n_threads);
	printf("init %.6f work %.6f\n", init_s, clock_s() - begun_s);
	fflush(stdout);
	if (is_late)
		tool = load_tool(true);
	if (tool)
		try_tool(tool, n_threads);
	return end(argv[1], argv);
}
