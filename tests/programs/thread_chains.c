/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of short-lived threads: thread_chains CHAINS SECONDS [REST_US]. In each chain a thread
 * sleeps for REST_US if given, works for 1.3 ms, starts the next one and ends. So at any instant
 * new threads appear while a profiler lists them. Prints the CPU time of all. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WORK_NS 1300000

static atomic_int is_over;
static struct timespec rest;

static long long cpu_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (long long)now.tv_sec * 1000000000 + now.tv_nsec;
}

static double work(void)
{
	double x = 1;
	while (cpu_ns(CLOCK_THREAD_CPUTIME_ID) < WORK_NS)
		for (int i = 0; i < 10000; i++)
			x = x * 1.0000001 + 1e-9;
	return x;
}

static void start(void);

static void *link_of_chain(void *argument)
{
	(void)argument;
	if (rest.tv_nsec)
		nanosleep(&rest, NULL);
	if (work() > 0 && !atomic_load(&is_over))
		start();
	return NULL;
}

static void start(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, link_of_chain, NULL) == 0)
		pthread_detach(thread);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 8;
	struct timespec life = {argc > 2 ? atoi(argv[2]) : 1, 0};
	struct timespec last = {0, 100000000};
	rest.tv_nsec = argc > 3 ? atol(argv[3]) * 1000 : 0;
	for (int i = 0; i < n; i++)
		start();
	nanosleep(&life, NULL);
	atomic_store(&is_over, 1);
	nanosleep(&last, NULL);
	printf("cpu_ns %lld\n", cpu_ns(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
