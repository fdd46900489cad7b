/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the growth of a variable between two readings with the time between them. */
#include "counter_growth.h"

#include "analyze/thresholds.h"

#include <math.h>

static uint64_t growth(const struct tp_counter_series *series, size_t i)
{
	return series->readings[i].value - series->readings[i - 1].value;
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

static double time_of(const struct tp_counter_series *series, size_t i,
		      const struct tp_cpu_clock *clock)
{
	uint64_t time_ns = series->readings[i].mark_ns;
	return (double)(clock ? tp_cpu_clock_ns(clock, time_ns) : time_ns);
}

/* A growth differs from the expected one by up to one round at either end, and by as much as rounds
 * differ. */
static double proportional_share(const struct tp_counter_series *series,
				 const struct tp_cpu_clock *clock)
{
	const struct tp_counter_reading *readings = series->readings;
	size_t n = series->n - 1;
	double whole = time_of(series, n, clock) - time_of(series, 0, clock);
	double rounds_per_ns = (double)(readings[n].value - readings[0].value) / fmax(1, whole);
	size_t n_near = 0;
	for (size_t i = 1; i <= n; i++) {
		double expected =
			rounds_per_ns * (time_of(series, i, clock) - time_of(series, i - 1, clock));
		double differs = fabs((double)growth(series, i) - expected);
		n_near += differs <= 1 + TP_COUNTER_STEADY_MAX * expected;
	}
	return (double)n_near / (double)n;
}

bool tp_counter_growth_is_steady(const struct tp_counter_series *series,
				 const struct tp_cpu_clock *clock)
{
	if (series->n <= TP_COUNTER_STEADY_READINGS || series->n_restarts > 0)
		return false;
	return !grows_in_groups(series) &&
	       (proportional_share(series, NULL) >= TP_COUNTER_ALIKE_MIN ||
		(clock->n > 0 && proportional_share(series, clock) >= TP_COUNTER_ALIKE_MIN));
}
