/* SPDX-License-Identifier: Apache-2.0 */
/* The hottest stacks: time by call stack. */
#ifndef TRAINPROF_SRC_ANALYZE_TIMELINE_HOT_STACKS_H
#define TRAINPROF_SRC_ANALYZE_TIMELINE_HOT_STACKS_H

#include "trainprof/base/map.h"
#include "trainprof/model/profile.h"

/* Zero-initialised except for the trace = empty. */
struct tp_hot_table {
	const struct tp_trace *trace;
	uint64_t *paths;           /* heap: by stack, a hash of its functions; 0 = not made yet */
	struct tp_hot_stack *rows; /* heap */
	size_t n;
	size_t capacity;
	struct tp_map index;
};

/* Adds its time to the row of the same path; ignores the empty stack. */
void tp_hot_table_add(struct tp_hot_table *table, const struct tp_hot_stack *hot);
/* Sets profile->hot, sorted by time. Releases the table. */
void tp_hot_table_finish(struct tp_hot_table *table, struct tp_profile *profile);
void tp_hot_table_release(struct tp_hot_table *table);

#endif
