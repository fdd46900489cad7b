/* SPDX-License-Identifier: Apache-2.0 */
/* The stays of a thread below one function, and whether they come back like the steps of a loop. */
#ifndef TRAINPROF_SRC_ANALYZE_STEPS_CALLEE_ROUNDS_H
#define TRAINPROF_SRC_ANALYZE_STEPS_CALLEE_ROUNDS_H

#include "call_tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One uninterrupted stay below a node. */
struct tp_callee_interval {
	uint64_t start_ns;
	uint64_t end_ns;
	double hits;     /* samples inside, as expected on average */
	double gap_hits; /* samples between the stay before and this one; 0 for the first */
	double gap_work; /* of those, not in evaluation, checkpoints, logging */
	size_t gap;      /* sightings there */
	size_t first;    /* index of its first sighting */
	uint32_t piece;  /* of that */
};

struct tp_callee {
	uint32_t node;
	struct tp_callee_interval *stays; /* heap */
	size_t n;
	double single;     /* share of stays seen once only */
	double gap_single; /* of gaps between them */
	double missed;     /* how many more there should be, by periods with twice the work */
	double regularity; /* share of periods within 50 % of the median one, in time or work */
	double period_ns;  /* median */
	bool is_special;   /* evaluation, checkpoint, logging */
};

/* Collect and measure the stays below `node`, which is at or below `level`. */
void tp_callee_init(struct tp_callee *callee, const struct tp_call_tree *tree, uint32_t level,
		    uint32_t node);
/* Of rounds found by other means; takes the stays (heap), gap_work is all work since the one
 * before.
 */
void tp_callee_init_rounds(struct tp_callee *callee, uint32_t node,
			   struct tp_callee_interval *stays, size_t n);
void tp_callee_release(struct tp_callee *callee);

/*
 * Count by waits instead: where the thread blocks below the callee once per round, switches of the
 * CPU give exact borders, however short the rest of the round is. Replaces the stays and measures
 * them again; false, and nothing changed, where its waits do not part rounds.
 */
bool tp_callee_use_waits(struct tp_callee *callee, const struct tp_call_tree *tree);

/*
 * Raise the regularity to the share of periods in which each of the given others has exactly one
 * stay: rounds that call the same functions are alike however long a busy machine makes them.
 */
void tp_callee_compare_order(struct tp_callee *callee, const struct tp_callee *const *others,
			     size_t n);

/* Whether the sampling rate was high enough to see nearly all of its stays, and to part them. */
bool tp_callee_is_resolved(const struct tp_callee *callee);

#endif
