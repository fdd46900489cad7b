/* SPDX-License-Identifier: Apache-2.0 */
/* Many threads at once, then many after each other: thread_crowd THREADS CHURN. THREADS exist
 * together, each doing a little work in turns; then CHURN short ones follow, at most 16 at a time.
 * Prints how many ran and the CPU time of all. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MAX_THREADS = 4096, AT_ONCE = 16 };

static atomic_int n_ran;

__attribute__((noinline)) static double small_work(int rounds)
{
	double x = 1;
	for (int i = 0; i < rounds * 1000; i++)
		x = x * 1.0000001 + 1e-9;
	return x;
}

static void *member(void *argument)
{
	struct timespec rest = {0, 2000000};
	double x = 0;
	for (int turn = 0; turn < 5; turn++) {
		x += small_work(400);
		nanosleep(&rest, NULL);
	}
	atomic_fetch_add(&n_ran, x > 0);
	(void)argument;
	return NULL;
}

static void *passer_by(void *argument)
{
	atomic_fetch_add(&n_ran, small_work(200) > 0);
	(void)argument;
	return NULL;
}

static int run_group(pthread_t *threads, int n, void *(*function)(void *))
{
	int n_started = 0;
	while (n_started < n && pthread_create(&threads[n_started], NULL, function, NULL) == 0)
		n_started++;
	for (int i = 0; i < n_started; i++)
		pthread_join(threads[i], NULL);
	return n_started == n;
}

int main(int argc, char **argv)
{
	static pthread_t threads[MAX_THREADS];
	int n_members = argc > 1 ? atoi(argv[1]) : 500;
	int n_churn = argc > 2 ? atoi(argv[2]) : 500;
	struct timespec cpu;
	if (n_members > MAX_THREADS || !run_group(threads, n_members, member))
		return 2;
	for (int i = 0; i < n_churn; i += AT_ONCE) {
		int n = n_churn - i < AT_ONCE ? n_churn - i : AT_ONCE;
		if (!run_group(threads, n, passer_by))
			return 2;
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	printf("threads %d cpu_ns %lld\n", atomic_load(&n_ran),
	       (long long)cpu.tv_sec * 1000000000 + cpu.tv_nsec);
	return 0;
}
