/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of known length, with their times by the program's own clock: step_clock STEPS MS FILE
 * [EVERY [ms]]. A step is forward() of six layers, backward() and update(); each EVERY-th one has
 * an evaluation before it. FILE gets a line for each step: the times at which forward(), backward()
 * and update() were called, in ns of CLOCK_MONOTONIC. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef __clang__
#define NOT_INLINE __attribute__((noinline))
#else
#define NOT_INLINE __attribute__((noinline, noclone, no_icf))
#endif

static volatile double result;
static double ns_of_turn; /* duration of one turn of the loop in work() */

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline void work(double ms, double factor)
{
	double x = 1;
	for (uint64_t i = (uint64_t)(ms * 1e6 / ns_of_turn); i > 0; i--)
		x = x * factor + 0.1;
	result = x;
}

NOT_INLINE static void layer(double ms)
{
	work(ms, 1.0001);
}

NOT_INLINE static void forward(double ms)
{
	for (int i = 0; i < 6; i++)
		layer(ms / 6);
	result++;
}

NOT_INLINE static void backward(double ms)
{
	work(ms, 0.999);
	result++;
}

NOT_INLINE static void update(double ms)
{
	work(ms, 0.99);
	result--;
}

NOT_INLINE static void evaluate(double ms)
{
	for (int i = 0; i < 3; i++)
		forward(ms);
	result--;
}

static void calibrate(void)
{
	ns_of_turn = 1;
	uint64_t best_ns = UINT64_MAX;
	for (int i = 0; i < 20; i++) {
		uint64_t began_ns = now_ns();
		work(1, 1.0001);
		uint64_t ns = now_ns() - began_ns;
		best_ns = ns < best_ns ? ns : best_ns;
	}
	ns_of_turn = (double)best_ns / 1e6;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	long n = atol(argv[1]);
	double ms = atof(argv[2]);
	long every = argc > 4 ? atol(argv[4]) : 0;
	uint64_t(*times_ns)[3] = malloc((size_t)n * sizeof(*times_ns));
	FILE *file = fopen(argv[3], "w");
	if (n < 1 || !times_ns || !file)
		return 2;
	calibrate();
	for (long i = 0; i < n; i++) {
		if (every && i % every == every - 1)
			evaluate(ms * 0.35);
		times_ns[i][0] = now_ns();
		forward(ms * 0.35);
		times_ns[i][1] = now_ns();
		backward(ms * 0.55);
		times_ns[i][2] = now_ns();
		update(ms * 0.1);
	}
	for (long i = 0; i < n; i++)
		fprintf(file, "%llu %llu %llu\n", (unsigned long long)times_ns[i][0],
			(unsigned long long)times_ns[i][1], (unsigned long long)times_ns[i][2]);
	free(times_ns);
	return fclose(file) != 0;
}
