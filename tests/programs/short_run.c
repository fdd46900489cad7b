/* SPDX-License-Identifier: Apache-2.0 */
/* Computes for a number of milliseconds, 20 by default: short_run MILLISECONDS */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	double until_ms = now_ms() + (argc > 1 ? atof(argv[1]) : 20);
	double x = 1;
	while (now_ms() < until_ms) {
		for (int i = 0; i < 1000; i++)
			x = x * 1.0000001 + 1e-9;
	}
	printf("%.6f\n", x);
	return 0;
}
