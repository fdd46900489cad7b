/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the growth of a variable between two readings with the time between them. */
#include "counter_growth.h"

#include "analyze/thresholds.h"

#include <math.h>

/* Returns by how much it grew since the previous reading; 0 where it restarted. */
static uint64_t growth(const struct tp_counter_series *series, size_t i)
{
	const struct tp_counter_reading *r = &series->readings[i];
	return r->value > r[-1].value ? r->value - r[-1].value : 0;
}

/* Returns true if most growths are multiples of one number. */
static bool grows_in_groups(const struct tp_counter_series *series)
{
	for (uint64_t group = 2; group <= TP_COUNTER_GROWTH_MAX; group++) {
		size_t n = 0;
		for (size_t i = 1; i < series->n; i++)
			n += growth(series, i) % group == 0;
		if ((double)n >= TP_COUNTER_ALIKE_MIN * (double)(series->n - 1))
			return true;
	}
	return false;
}

static double time_before(const struct tp_counter_series *series, size_t i,
			  const struct tp_cpu_clock *clock)
{
	uint64_t from_ns = series->readings[i - 1].mark_ns;
	uint64_t to_ns = series->readings[i].mark_ns;
	return (double)(clock ? tp_cpu_clock_ns(clock, to_ns) - tp_cpu_clock_ns(clock, from_ns)
			      : to_ns - from_ns);
}

static double rounds_per_ns(const struct tp_counter_series *series,
			    const struct tp_cpu_clock *clock)
{
	double n_rounds = 0;
	double time_ns = 0;
	for (size_t i = 1; i < series->n; i++) {
		n_rounds += (double)growth(series, i);
		time_ns += growth(series, i) ? time_before(series, i, clock) : 0;
	}
	return n_rounds / fmax(1, time_ns);
}

/* A growth differs from the expected one by up to one round at either end, and by as much as rounds
 * differ. */
static double proportional_share(const struct tp_counter_series *series,
				 const struct tp_cpu_clock *clock)
{
	double rate = rounds_per_ns(series, clock);
	size_t n_near = 0;
	for (size_t i = 1; i < series->n; i++) {
		double expected = rate * time_before(series, i, clock);
		double differs = fabs((double)growth(series, i) - expected);
		n_near += growth(series, i) && differs <= 1 + TP_COUNTER_STEADY_MAX * expected;
	}
	return (double)n_near / (double)(series->n - 1);
}

bool tp_counter_growth_is_steady(const struct tp_counter_series *series,
				 const struct tp_cpu_clock *clock)
{
	if (series->n <= TP_COUNTER_STEADY_READINGS)
		return false;
	return !grows_in_groups(series) &&
	       (proportional_share(series, NULL) >= TP_COUNTER_ALIKE_MIN ||
		(clock->n > 0 && proportional_share(series, clock) >= TP_COUNTER_ALIKE_MIN));
}
