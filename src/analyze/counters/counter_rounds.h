/* SPDX-License-Identifier: Apache-2.0 */
/* The rounds that the readings of a counter show. A value began between its first reading and the
 * previous reading. Rounds before the first reading and after the last one are counted if the time
 * without readings is long enough for them. */
#ifndef TRAINPROF_SRC_ANALYZE_COUNTERS_COUNTER_ROUNDS_H
#define TRAINPROF_SRC_ANALYZE_COUNTERS_COUNTER_ROUNDS_H

#include "counter_readings.h"

/* Fills in the borders of all counters, and how many rounds are inferred, odd and unknown. */
void tp_counter_rounds_find(struct tp_counter_list *list, const struct tp_analysis *analysis);

#endif
