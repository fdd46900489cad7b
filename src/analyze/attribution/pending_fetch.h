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

/* Fills a zeroed list with the waits of the trainer's threads in a fetch, ascending and disjoint.
 * Needs timelines and the trainer. The list is in the arena. */
void tp_pending_fetch_build(struct tp_intervals *out, const struct tp_analysis *analysis);

/* Returns the first fetch that is pending during a wait of the main thread, cut to the wait; empty
 * if there is none. Only the first: a call may make several steps, and it may compute one while it
 * fetches the batch of the next. */
struct tp_interval tp_pending_fetch_first(const struct tp_intervals *fetches,
					  const struct tp_segment *wait);

#endif
