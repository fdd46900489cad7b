/* Draws sampling periods. */
#include "perf_period.h"

/*
 * Rates over the asked one. The steps are 1 / (k + 0.618…), continued fractions that end in ones
 * only; from k = 4 on a loop in step with the asked rate would be walked through so slowly that it
 * looks like another, longer one.
 */
static const double rates[] = {
	1 - 0.38196601125010515, /* k = 2 */
	1 - 0.27639320225002103, /* k = 3 */
	1 + 0.27639320225002103,
	1 + 0.38196601125010515,
};

uint64_t tp_perf_random(uint64_t *seed)
{
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint64_t tp_perf_period(uint64_t period_ns, uint64_t seed, uint32_t n)
{
	/* The fractional part of n times the golden ratio, from a random start, goes evenly through
	 * the unit interval. In units of 2^-64. */
	uint64_t place = seed + (uint64_t)n * UINT64_C(0x9e3779b97f4a7c15);
	return (uint64_t)((double)period_ns / rates[place >> 62]);
}
