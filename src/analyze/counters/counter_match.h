/* SPDX-License-Identifier: Apache-2.0 */
/* Compares what two counters of the main thread count. */
#ifndef TRAINPROF_SRC_ANALYZE_COUNTERS_COUNTER_MATCH_H
#define TRAINPROF_SRC_ANALYZE_COUNTERS_COUNTER_MATCH_H

#include "counter_readings.h"

/* Returns true if both had the same number, but for a constant, nearly whenever one was read: then
 * they count the same rounds, even if one was read in a part of them only. */
bool tp_counter_series_match(const struct tp_counter_series *a, const struct tp_counter_series *b);

#endif
