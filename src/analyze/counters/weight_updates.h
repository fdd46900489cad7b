/* SPDX-License-Identifier: Apache-2.0 */
/* When the optimizer changed the weights: once per step, at its end. */
#ifndef TRAINPROF_SRC_ANALYZE_COUNTERS_WEIGHT_UPDATES_H
#define TRAINPROF_SRC_ANALYZE_COUNTERS_WEIGHT_UPDATES_H

#include "analyze/analysis.h"

struct tp_weight_updates {
	uint64_t *times_ns; /* heap: when the main thread was sampled changing them, in order */
	size_t n;
	uint64_t *passes_ns; /* heap: the same, and when it was in a backward pass */
	size_t n_passes;
};

void tp_weight_updates_init(struct tp_weight_updates *out, const struct tp_analysis *analysis);
void tp_weight_updates_release(struct tp_weight_updates *updates);

/* Returns true if the weights change throughout the time between two borders: it contains many
 * steps. */
bool tp_weight_updates_are_inside(const struct tp_weight_updates *updates, const uint64_t *borders,
				  size_t n_borders);
/* Returns true if there are backward passes and updates between the borders, but none where a
 * forward pass has to come first, and no backward pass after an update of the same round. An epoch
 * of the whole data in one batch, as of a graph network, is a step. */
bool tp_weight_updates_are_single(const struct tp_weight_updates *updates, const uint64_t *borders,
				  size_t n_borders);

#endif
