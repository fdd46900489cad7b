/* SPDX-License-Identifier: Apache-2.0 */
/* Computes, starts a thread that computes, joins it, in a loop: thread_rounds ROUNDS [MAIN_MS
 * [CHILD_MS]]. Both parts are CPU time, each in its own function. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double child_ms = 8;

static double cpu_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

__attribute__((noinline)) static void main_part(double ms)
{
	double end = cpu_ms() + ms;
	while (cpu_ms() < end)
		;
}

__attribute__((noinline)) static void child_part(double ms)
{
	double end = cpu_ms() + ms;
	while (cpu_ms() < end)
		;
}

static void *child(void *argument)
{
	child_part(child_ms);
	return argument;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 500;
	double main_ms = argc > 2 ? atof(argv[2]) : 4;
	child_ms = argc > 3 ? atof(argv[3]) : 8;
	for (long i = 0; i < rounds; i++) {
		pthread_t thread;
		main_part(main_ms);
		if (pthread_create(&thread, NULL, child, NULL) != 0)
			return 2;
		pthread_join(thread, NULL);
	}
	printf("main %.0f ms\n", cpu_ms());
	return 0;
}
