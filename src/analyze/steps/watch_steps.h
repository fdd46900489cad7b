/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps by hardware breakpoints: the instants at which a counter was written (TP_MARK_WRITE), or a
 * function was called (TP_MARK_CALL).
 *
 * Writes are believed between two readings of the counter only if there are as many as the counter
 * grew by: a variable may be written more often than it changes, a frame that was left lends its
 * memory to others, and records may be lost.
 */
#ifndef TRAINPROF_SRC_ANALYZE_STEPS_WATCH_STEPS_H
#define TRAINPROF_SRC_ANALYZE_STEPS_WATCH_STEPS_H

#include "analyze/analysis.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A value of a counter, as it was read. */
struct tp_watch_reading {
	uint64_t value;
	uint64_t time_ns; /* of its mark: it was read up to TP_WATCH_LATE_NS before */
	size_t n_borders; /* borders of rounds up to this value, with its own */
};

/* Borders of rounds, in order, of which some are exact. */
struct tp_watch_borders {
	uint64_t *times_ns; /* heap */
	size_t n;
	size_t n_exact;
};

/* Was a breakpoint set on this counter of the main thread? */
bool tp_watch_steps_has_writes(const struct tp_analysis *analysis, uint32_t name);

/*
 * Puts the instants of writes in the place of borders that were found by readings. False, and
 * `borders` is as it was, when there are no writes or they do not fit the readings: *n_writes says
 * how many there are.
 * readings: of the counter `name` of the main thread, in the order of time. Its first round has the
 * value first_value.
 */
bool tp_watch_steps_join(struct tp_watch_borders *borders, const struct tp_analysis *analysis,
			 uint32_t name, const struct tp_watch_reading *readings, size_t n_readings,
			 uint64_t first_value, size_t *n_writes);

#endif
