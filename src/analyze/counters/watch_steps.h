/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps by hardware breakpoints: the times at which a counter was written (TP_MARK_WRITE), or a
 * function was called (TP_MARK_CALL).
 *
 * Writes between two readings of the counter are used only if there are as many as the counter grew
 * by: a variable may be written without a change, the memory of a finished frame is reused, and
 * records may be lost.
 */
#ifndef TRAINPROF_SRC_ANALYZE_COUNTERS_WATCH_STEPS_H
#define TRAINPROF_SRC_ANALYZE_COUNTERS_WATCH_STEPS_H

#include "analyze/analysis.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A value of a counter, as it was read. */
struct tp_watch_reading {
	uint64_t value;
	uint64_t time_ns; /* time of its mark: the value was read up to TP_WATCH_LATE_NS earlier */
	size_t n_borders; /* number of borders of rounds up to this value, including its own */
};

/* Borders of rounds in order, some of them exact. */
struct tp_watch_borders {
	uint64_t *times_ns; /* heap */
	size_t n;
	size_t n_exact;
};

/* Returns true if a breakpoint on this counter of the main thread recorded writes. */
bool tp_watch_steps_has_writes(const struct tp_analysis *analysis, uint32_t name);

/* Replaces borders that were found by readings with the times of writes. Returns false and leaves
 * `borders` unchanged if there are no writes or they do not match the readings; *n_writes is their
 * number. readings: of the counter `name` of the main thread, in time order. The value in its first
 * round is first_value. */
bool tp_watch_steps_join(struct tp_watch_borders *borders, const struct tp_analysis *analysis,
			 uint32_t name, const struct tp_watch_reading *readings, size_t n_readings,
			 uint64_t first_value, size_t *n_writes);

#endif
