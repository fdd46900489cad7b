/* SPDX-License-Identifier: Apache-2.0 */
/* Works for SECONDS of CPU time below functions with large arrays, of which only the ends were ever
 * written, as math libraries do: hollow_stack SECONDS. Pages in the middle of the stack are not
 * present, and the callers lie above them. */
#include <stdlib.h>
#include <time.h>

enum { HOLLOW_BYTES = 5 * 4096, DEPTH = 2 };

static volatile double sum;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

__attribute__((noinline)) static void work(double until)
{
	while (now() < until) /* a system call: not too often */
		for (int i = 0; i < 100000; i++)
			sum = sum * 1.0000001 + 1e-9;
}

__attribute__((noinline)) static void hollow(int depth, double until)
{
	volatile char array[HOLLOW_BYTES];
	array[0] = array[HOLLOW_BYTES - 1] = (char)depth;
	if (depth > 1)
		hollow(depth - 1, until);
	else
		work(until);
	sum += array[0] + array[HOLLOW_BYTES - 1];
}

int main(int argc, char **argv)
{
	hollow(DEPTH, now() + (argc > 1 ? atof(argv[1]) : 1));
	return 0;
}
