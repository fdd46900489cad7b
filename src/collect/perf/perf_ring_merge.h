/*
 * The records of all rings in the order of time. Between 0.2 and 4 % of switch records come out of
 * order, by up to 600 ms, when rings are read one after another.
 *
 * A record is handed out only when it is older than a horizon that the caller sets behind the
 * moment of looking: what will still appear in a ring is younger than that.
 */
#ifndef TRAINPROF_SRC_COLLECT_PERF_PERF_RING_MERGE_H
#define TRAINPROF_SRC_COLLECT_PERF_PERF_RING_MERGE_H

#include "perf_ring.h"

struct tp_perf_merge {
	struct tp_perf_ring *rings; /* borrowed */
	size_t n_rings;
	uint32_t *heap; /* rings that have a record, the oldest on top */
	uint64_t *times_ns;
	size_t n_heap;
	double fill; /* of the fullest ring when last looked */
};

void tp_perf_merge_init(struct tp_perf_merge *merge, struct tp_perf_ring *rings, size_t n_rings);
void tp_perf_merge_release(struct tp_perf_merge *merge);

/* See what is in the rings now. */
void tp_perf_merge_look(struct tp_perf_merge *merge);
/* The oldest record that is not younger than the horizon; NULL when there is none. Valid until the
 * next call. *ring is its ring. */
const void *tp_perf_merge_take(struct tp_perf_merge *merge, uint64_t horizon_ns, size_t *size,
			       size_t *ring);
/* Give all rings their room back. */
void tp_perf_merge_give_back(struct tp_perf_merge *merge);

#endif
