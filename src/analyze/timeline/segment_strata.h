/* SPDX-License-Identifier: Apache-2.0 */
/* The sampled stays of one thread, by kind and length, to find the one that stands for another. */
#ifndef TRAINPROF_SRC_ANALYZE_TIMELINE_SEGMENT_STRATA_H
#define TRAINPROF_SRC_ANALYZE_TIMELINE_SEGMENT_STRATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a thread does as it loses its CPU, say to whom it has just woken, is not what it does before
 * it waits. Looks at a wait that ended under our eyes know its cause, but have no stack. */
enum tp_segment_kind {
	TP_SEGMENT_RUN,
	TP_SEGMENT_RUN_PREEMPTED,
	TP_SEGMENT_WAIT,
	TP_SEGMENT_WAIT_NO_STACK,
	TP_N_SEGMENT_KINDS
};

/* What else tells stays apart, in groups that the caller numbers from 0. */
enum {
	TP_N_SEGMENT_GROUPS = 3,
	TP_ANY_SEGMENT_GROUP = TP_N_SEGMENT_GROUPS /* of stays to find, not to add */
};

enum { TP_N_STRATA = 64 }; /* powers of two of a length in ns */

struct tp_segment_hit {
	uint64_t time_ns;
	uint32_t sample;
};

/* In order of time; on the heap. */
struct tp_segment_hits {
	struct tp_segment_hit *items;
	size_t n;
	size_t capacity;
};

/* Begins zeroed, but for the border. What lies after that never stands for what was before; the
 * other way round only where there is nothing else. 0: no border. */
struct tp_strata {
	uint64_t border_ns;
	size_t n_hits[TP_N_SEGMENT_KINDS][TP_N_SEGMENT_GROUPS];
	struct tp_segment_hits hits[TP_N_SEGMENT_KINDS][TP_N_SEGMENT_GROUPS][TP_N_STRATA];
};

/* Which kind speaks for one of which no stay was hit. */
enum tp_segment_kind tp_segment_kind_other(enum tp_segment_kind kind);

/* One stay, as far as it is compared. */
struct tp_segment_key {
	enum tp_segment_kind kind;
	int group;
	uint64_t start_ns;
	uint64_t length_ns;
};

/* Stays come in order of time. */
void tp_strata_add(struct tp_strata *strata, const struct tp_segment_key *stay, uint32_t sample);
/* The sample of the stay of that kind that is most like this one: of the closest length, shorter
 * ones first, and of those the nearest in time. Another group makes it as unlike as a length eight
 * times longer or shorter. TP_NO_SAMPLE where none of the kind was hit.
 */
uint32_t tp_strata_find_similar(const struct tp_strata *strata, const struct tp_segment_key *stay);
/* Whether a stay of that kind and group was hit. */
bool tp_strata_has(const struct tp_strata *strata, enum tp_segment_kind kind, int group);
void tp_strata_release(struct tp_strata *strata);

#endif
