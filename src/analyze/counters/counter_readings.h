/* SPDX-License-Identifier: Apache-2.0 */
/* The readings of the counters of the main thread, and the borders of their rounds. */
#ifndef TRAINPROF_SRC_ANALYZE_COUNTERS_COUNTER_READINGS_H
#define TRAINPROF_SRC_ANALYZE_COUNTERS_COUNTER_READINGS_H

#include "analyze/analysis.h"

#include "trainprof/base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_counter_reading {
	uint64_t value;
	uint64_t total;     /* value at which the loop will end; 0 = not known */
	bool is_inferred;   /* the total is inferred: other loops of this counter ended there */
	uint64_t before_ns; /* the border to the previous value is between this time … */
	uint64_t time_ns;   /* … and this time */
	uint64_t seen_ns;   /* the last reading of this value */
	uint64_t gap_ns;    /* the longest time between two readings of this value in a row */
	uint64_t next_ns;   /* by this time it would have been read again, even if one or two reads
			       failed */
	uint64_t ended_ns;  /* when the loop was seen to have ended; 0 = not seen */
	uint64_t mark_ns;
	size_t n_borders; /* number of borders up to this value, including its own */
};

struct tp_counter_series {
	uint32_t name;    /* string */
	bool is_iterator; /* counts returned items: 1 in the first round, where a variable has 0 */
	bool is_down;     /* reports how many rounds are left: those before the first reading are
			     unknown */
	bool is_number;   /* the number that a range yields: it may start anywhere */
	bool is_steady;   /* counter_growth.h */
	struct tp_counter_reading *readings; /* heap, in time order */
	size_t n;
	size_t capacity;
	uint64_t first_value; /* value in the first round of each period of growth */
	size_t n_odd;         /* number of changes that no counter makes */
	uint64_t *restarts;   /* heap: when each restart was first seen */
	size_t n_restarts;
	uint64_t *borders; /* heap: start times of rounds */
	size_t n_borders;
	size_t n_inferred; /* number of borders that no reading shows */
	size_t n_unknown;  /* possible error of the number of rounds; 0 = exact */
	size_t n_full;     /* how often it reached the highest value at which it restarted */
};

struct tp_counter_list {
	struct tp_counter_series *items; /* heap */
	size_t n;
	size_t capacity;
	struct tp_map by_name; /* string -> index */
};

/* Collects all counters of the main thread. */
void tp_counter_list_collect(struct tp_counter_list *out, const struct tp_analysis *analysis);
/* Returns true if the counter may have grown by this much between two readings: a variable may hold
 * any value. */
bool tp_counter_series_is_growth(const struct tp_counter_series *series, uint64_t value,
				 uint64_t before);
void tp_counter_list_release(struct tp_counter_list *list);

#endif
