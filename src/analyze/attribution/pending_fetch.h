/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a thread waits for the batch that a graph fetches for itself (Keras, TensorFlow).
 *
 * Such a graph gets its batch by an operation of its own, on a thread of its own, while the main
 * thread waits for the whole step. tf.data runs its operators and Python functions on the pool that
 * also computes, so what the pool does cannot show for what the main thread waits. A pending fetch
 * can: a step that has no batch yet computes nothing.
 */
#ifndef TRAINPROF_SRC_ANALYZE_ATTRIBUTION_PENDING_FETCH_H
#define TRAINPROF_SRC_ANALYZE_ATTRIBUTION_PENDING_FETCH_H

#include "analyze/analysis.h"
#include "analyze/numeric/intervals.h"

struct tp_pending_fetches {
	struct tp_intervals waits; /* of the trainer's other threads, ascending and disjoint */
	bool is_seen; /* a thread fetches a batch for a graph, be it the main thread itself */
};

/* A fetch that is pending during a wait of the main thread, cut to the wait. */
struct tp_fetch {
	uint64_t start_ns;
	uint64_t end_ns;
	bool is_last; /* no other one is pending in that wait */
};

/* Fills a zeroed `out`, which is in the arena. Needs timelines and the trainer. */
void tp_pending_fetch_build(struct tp_pending_fetches *out, const struct tp_analysis *analysis);

/* Returns the first fetch during a wait of the main thread; empty if there is none. Only the first:
 * a call may make several steps, and it may compute one while it fetches the batch of the next. */
struct tp_fetch tp_pending_fetch_first(const struct tp_pending_fetches *fetches,
				       const struct tp_segment *wait);

#endif
