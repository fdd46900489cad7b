/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether a variable that grows faster than it is read grows by one in each round. */
#ifndef TRAINPROF_SRC_ANALYZE_COUNTERS_COUNTER_GROWTH_H
#define TRAINPROF_SRC_ANALYZE_COUNTERS_COUNTER_GROWTH_H

#include "counter_readings.h"
#include "cpu_clock.h"

/* Returns true if the variable grows in proportion to time or to CPU time between restarts, which
 * are rare, and is not read at multiples of a number only, as one that counts the samples of whole
 * batches is. */
bool tp_counter_growth_is_steady(const struct tp_counter_series *series,
				 const struct tp_cpu_clock *clock);

#endif
