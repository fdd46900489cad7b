/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts CUDA and ends: cuda_ends HOW [MS]. After MS milliseconds, or as soon as the file
 * $CUDA_ENDS_WHEN exists (it waits for that 10 s at most), it ends with status 7 or as HOW says:
 *
 *   return, exit    returns from main, or calls exit() in the main thread
 *   thread          calls exit() in another thread, while the main thread sleeps
 *   _exit, abort, kill
 *   exec            executes another program, which ends with 7
 *   fork            40 children load something and end with 3, one every 2 ms; then it returns
 *   close           opens $CUDA_ENDS_CUPTI once and closes it five times, continues for 300 ms
 *   second          opens $CUDA_ENDS_CUPTI and continues until the file $CUDA_ENDS_UNTIL exists
 *
 * It prints which exit handlers run: "first" and "last" were registered before and after the start
 * of CUDA. "first", which runs last, removes the file $NULL_DRIVER_HOLD and takes
 * $CUDA_ENDS_LINGER_MS, so that a thread that was held by that file continues during the exit.
 *
 * $CUDA_ENDS_ATTACH is the agent's library: after the start of CUDA it attaches that to itself, as
 * `trainprof attach` does, and requests events.
 *
 * Into the file $CUDA_ENDS_TIMES it writes, just before it ends, three numbers in nanoseconds: how
 * long cuInit() took, how long its children took, and when it ends (CLOCK_MONOTONIC).
 */
#include "trainprof/wire/gpu_ring.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STATUS = 7, N_CHILDREN = 40, CHILD_STATUS = 3 };

static int64_t init_ns;
static int64_t children_ns;

static int64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void nap_ms(long ms)
{
	const struct timespec nap = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
	nanosleep(&nap, NULL);
}

static void wait_for_file(const char *variable)
{
	const char *file = getenv(variable);
	for (int i = 0; file && i < 10000 && access(file, F_OK) != 0; i++)
		nap_ms(1);
}

static void on_first(void)
{
	const char *held = getenv("NULL_DRIVER_HOLD");
	const char *linger = getenv("CUDA_ENDS_LINGER_MS");
	if (held)
		unlink(held);
	nap_ms(linger ? strtol(linger, NULL, 10) : 0);
	puts("first");
}

static void on_last(void)
{
	puts("last");
	fflush(stdout);
}

static void start_cuda(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
	void *symbol = driver ? dlsym(driver, "cuInit") : NULL;
	int (*init)(unsigned) = NULL;
	memcpy(&init, &symbol, sizeof(init));
	init_ns = -now_ns();
	if (init)
		init(0);
	init_ns += now_ns();
}

static void attach_agent(void)
{
	const char *path = getenv("CUDA_ENDS_ATTACH");
	void *agent = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	void *symbol = agent ? dlsym(agent, TP_GPU_AGENT_ENTRY) : NULL;
	int (*attach)(void *, size_t) = NULL;
	memcpy(&attach, &symbol, sizeof(attach));
	if (!attach)
		return;
	struct tp_gpu_ring_header *ring =
		mmap(NULL, sizeof(*ring), PROT_READ | PROT_WRITE, MAP_SHARED, attach(NULL, 0), 0);
	if (ring == MAP_FAILED)
		puts("not attached");
	else
		__atomic_store_n(&ring->wanted, TP_GPU_REQUEST_EVENTS, __ATOMIC_RELEASE);
}

static void write_times(void)
{
	const char *path = getenv("CUDA_ENDS_TIMES");
	FILE *file = path ? fopen(path, "w") : NULL;
	if (!file)
		return;
	fprintf(file, "%" PRId64 " %" PRId64 " %" PRId64 "\n", init_ns, children_ns, now_ns());
	fclose(file);
}

static void *end_program(void *unused)
{
	(void)unused;
	exit(STATUS); /* NOLINT(concurrency-mt-unsafe): this is what is tried */
}

static void end_in_thread(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, end_program, NULL);
	nap_ms(60000);
}

static void fork_children(void)
{
	children_ns = -now_ns();
	for (int i = 0; i < N_CHILDREN; i++) {
		int status = 0;
		pid_t pid = fork();
		if (pid == 0) {
			(void)dlopen("libm.so.6", RTLD_NOW);
			fclose(stdout);
			exit(CHILD_STATUS); /* NOLINT(concurrency-mt-unsafe) */
		}
		waitpid(pid, &status, 0);
		if (!WIFEXITED(status) || WEXITSTATUS(status) != CHILD_STATUS)
			printf("child %x\n", (unsigned)status);
		nap_ms(2);
	}
	children_ns += now_ns();
}

static void close_too_often(void)
{
	const char *path = getenv("CUDA_ENDS_CUPTI");
	void *handle = path ? dlopen(path, RTLD_LAZY) : NULL;
	for (int i = 0; handle && i < 5; i++)
		dlclose(handle);
	nap_ms(300);
}

static void open_second(void)
{
	const char *path = getenv("CUDA_ENDS_CUPTI");
	if (!path || !dlopen(path, RTLD_LAZY))
		puts("not opened");
	wait_for_file("CUDA_ENDS_UNTIL");
}

int main(int n, char **arguments)
{
	const char *how = n > 1 ? arguments[1] : "return";
	atexit(on_first);
	start_cuda();
	attach_agent();
	atexit(on_last);
	nap_ms(n > 2 ? strtol(arguments[2], NULL, 10) : 0);
	wait_for_file("CUDA_ENDS_WHEN");
	if (strcmp(how, "fork") == 0)
		fork_children();
	if (strcmp(how, "close") == 0)
		close_too_often();
	if (strcmp(how, "second") == 0)
		open_second();
	write_times();
	if (strcmp(how, "thread") == 0)
		end_in_thread();
	if (strcmp(how, "exit") == 0)
		exit(STATUS); /* NOLINT(concurrency-mt-unsafe) */
	if (strcmp(how, "_exit") == 0)
		_exit(STATUS);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "kill") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(how, "exec") == 0)
		execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
	return STATUS;
}
