/* SPDX-License-Identifier: Apache-2.0 */
/* The intervals that a thread spends below one function, and whether they recur like the steps of a
 * loop. */
#ifndef TRAINPROF_SRC_ANALYZE_STEPS_CALLEE_ROUNDS_H
#define TRAINPROF_SRC_ANALYZE_STEPS_CALLEE_ROUNDS_H

#include "call_tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One uninterrupted interval below a node. */
struct tp_callee_interval {
	uint64_t start_ns;
	uint64_t end_ns;
	double hits;     /* expected mean number of samples inside */
	double gap_hits; /* samples between the previous interval and this one; 0 for the first */
	double gap_work; /* part of gap_hits outside evaluation, checkpoints, logging */
	size_t gap;      /* number of hits in the gap */
	size_t first;    /* index of its first hit */
	uint32_t piece;  /* segment of that hit */
};

struct tp_callee {
	uint32_t node;
	struct tp_callee_interval *stays; /* heap */
	size_t n;
	double single;     /* share of intervals with only one sample */
	double gap_single; /* share of the gaps between them with only one sample */
	double missed; /* relative number of missed intervals, from periods with a multiple of the
			  usual work */
	double regularity; /* share of periods within 50 % of the median one, in time or work */
	double period_ns;  /* median */
	bool is_special;   /* evaluation, checkpoint, logging */
};

/* Collects and measures the intervals below `node`, which is at or below `level`. */
void tp_callee_init(struct tp_callee *callee, const struct tp_call_tree *tree, uint32_t level,
		    uint32_t node);
/* Initialises from rounds found by other means; takes ownership of the stays (heap). gap_work is
 * all work since the previous round. */
void tp_callee_init_rounds(struct tp_callee *callee, uint32_t node,
			   struct tp_callee_interval *stays, size_t n);
void tp_callee_release(struct tp_callee *callee);

/* Counts rounds by waits instead: if the thread blocks below the callee once per round, context
 * switches provide exact borders, however short the rest of the round is. Replaces the stays and
 * measures them again. Returns false and changes nothing if its waits do not separate rounds. */
bool tp_callee_use_waits(struct tp_callee *callee, const struct tp_call_tree *tree);

/* Raises the regularity to the share of periods in which each of the given others has exactly one
 * interval: rounds that call the same functions are alike even if a busy machine stretches them. */
void tp_callee_compare_order(struct tp_callee *callee, const struct tp_callee *const *others,
			     size_t n);

/* Returns true if the sampling rate was high enough to see nearly all of its intervals, and to
 * separate them. */
bool tp_callee_is_resolved(const struct tp_callee *callee);

#endif
