/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was read of the counters of the main thread, and where their rounds begin. A value lies
 * between the reading that saw it and the one before. Rounds before the first reading and after the
 * last one are counted where the time that nobody looked is long enough for them.
 */
#ifndef TRAINPROF_SRC_ANALYZE_STEPS_COUNTER_READINGS_H
#define TRAINPROF_SRC_ANALYZE_STEPS_COUNTER_READINGS_H

#include "analyze/analysis.h"

#include "trainprof/base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_counter_reading {
	uint64_t value;
	uint64_t total;     /* at which the loop will be over; 0 = not known */
	bool is_inferred;   /* the total: other loops of this counter ended there */
	uint64_t before_ns; /* the border to the value before lies from here … */
	uint64_t time_ns;   /* … to here */
	uint64_t seen_ns;   /* the last look that saw this value */
	uint64_t next_ns;   /* by then a look would have seen it again: one or two may fail */
	uint64_t ended_ns;  /* when a look saw that its loop was over; 0: none did */
	uint64_t mark_ns;
	size_t n_borders; /* up to this value, with its own */
};

struct tp_counter_series {
	uint32_t name;    /* string */
	bool is_iterator; /* counts what it gave: 1 in the first round; a variable has 0 then */
	bool is_down;     /* says how many rounds are left: those before the first are unknown */
	bool is_number;   /* the number that a range gives: it may begin anywhere */
	struct tp_counter_reading *readings; /* heap, in time order */
	size_t n;
	size_t capacity;
	uint64_t first_value; /* in the first round of each time that it counts up */
	size_t n_odd;         /* changes that no counter makes */
	uint64_t *restarts;   /* heap: when it was first seen to have begun anew */
	size_t n_restarts;
	uint64_t *borders; /* heap: where rounds begin */
	size_t n_borders;
	size_t n_inferred; /* of them, those that no reading shows */
	size_t n_unknown;  /* rounds that the count may be off by; 0: it is exact */
	size_t n_full;     /* times that it reached the highest value at which it began anew */
};

struct tp_counter_list {
	struct tp_counter_series *items; /* heap */
	size_t n;
	size_t capacity;
	struct tp_map by_name; /* string -> index */
};

/* All counters of the main thread. */
void tp_counter_list_collect(struct tp_counter_list *out, const struct tp_analysis *analysis);
void tp_counter_list_release(struct tp_counter_list *list);

#endif
