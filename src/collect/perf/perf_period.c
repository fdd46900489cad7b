/* SPDX-License-Identifier: Apache-2.0 */
/* Draws sampling periods. */
#include "perf_period.h"

#include "trainprof/base/clock.h"

/* Rates relative to the requested one. The steps are 1 / (k + 0.618…), continued fractions that end
 * in ones only; from k = 4 on, the sampled place in a loop synchronous with the requested rate
 * would move so slowly that it looks like another, longer loop. */
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
	/* The fractional part of n times the golden ratio, from a random start, covers the unit
	 * interval evenly. In units of 2^-64. */
	uint64_t place = seed + (uint64_t)n * UINT64_C(0x9e3779b97f4a7c15);
	return (uint64_t)((double)period_ns / rates[place >> 62]);
}

/* A draw interrupts the target's CPU and takes 20 to 30 us of our time in a virtual machine. */
#define SAMPLES_PER_DRAW 3
#define DRAW_PERIOD_NS   (30 * TP_NS_PER_MS)

void tp_perf_period_schedule_start(struct tp_perf_period_schedule *pace, uint64_t period_ns,
				   uint64_t now_ns)
{
	*pace = (struct tp_perf_period_schedule){.seed = pace->seed,
						 .period_ns = period_ns,
						 .factor = 1,
						 .rated_from_ns = now_ns,
						 .started_ns = now_ns};
}

double tp_perf_period_schedule_periods(const struct tp_perf_period_schedule *pace, uint64_t now_ns)
{
	double period_ns = (double)pace->period_ns * pace->factor;
	return pace->rated_periods + (double)(now_ns - pace->rated_from_ns) / period_ns;
}

static void sum_rate(struct tp_perf_period_schedule *pace, uint64_t now_ns)
{
	pace->rated_periods = tp_perf_period_schedule_periods(pace, now_ns);
	pace->rated_from_ns = now_ns;
}

void tp_perf_period_schedule_set_factor(struct tp_perf_period_schedule *pace, unsigned factor,
					uint64_t now_ns)
{
	sum_rate(pace, now_ns);
	pace->factor = factor;
}

bool tp_perf_period_schedule_is_due(const struct tp_perf_period_schedule *pace, uint64_t n_samples,
				    uint64_t now_ns)
{
	return n_samples >= pace->n_samples + SAMPLES_PER_DRAW &&
	       now_ns - pace->drawn_ns >= DRAW_PERIOD_NS;
}

uint64_t tp_perf_period_schedule_draw(struct tp_perf_period_schedule *pace, uint64_t n_samples,
				      uint64_t now_ns)
{
	pace->n_samples = n_samples;
	pace->drawn_ns = now_ns;
	uint32_t n = pace->n_drawn++;
	double per_draw = (double)n_samples / (n + 1);
	double period_ns = (double)pace->period_ns * pace->factor;
	period_ns *= (per_draw + 0.1) / (per_draw + 0.6);
	return tp_perf_period((uint64_t)period_ns, pace->seed, n);
}

double tp_perf_period_schedule_rate_hz(struct tp_perf_period_schedule *pace, uint64_t now_ns)
{
	sum_rate(pace, now_ns);
	double seconds = (double)(now_ns - pace->started_ns) / (double)TP_NS_PER_S;
	return seconds > 0 ? pace->rated_periods / seconds : 0;
}
