/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the training loop in the call paths of a thread: the function whose callees repeat, and
 * the callee ("marker") that comes back once per step.
 */
#ifndef TRAINPROF_SRC_ANALYZE_STEPS_LOOP_FINDER_H
#define TRAINPROF_SRC_ANALYZE_STEPS_LOOP_FINDER_H

#include "callee_rounds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tp_loop_state {
	TP_LOOP_ABSENT,   /* nothing repeats */
	TP_LOOP_TOO_FAST, /* something repeats, too fast for the sampling rate to count it */
	TP_LOOP_GROUPS,   /* something repeats, but may stand for several rounds */
	TP_LOOP_FOUND,
};

struct tp_loop {
	enum tp_loop_state state;
	uint32_t node;                    /* the function that loops; TP_NO_NODE when absent */
	uint32_t marker;                  /* what it calls once per step */
	struct tp_callee_interval *stays; /* of the marker, heap; FOUND only */
	size_t n_stays;
	bool may_be_groups; /* FOUND: a stay may stand for several rounds, nothing says so */
	double regularity;  /* share of periods within 50 % of the median period */
	uint64_t period_ns;
	uint64_t start_ns; /* from the first to the last sight of what repeats */
	uint64_t end_ns;
};

/* Heap memory, freed by release. */
void tp_loop_find(struct tp_loop *loop, const struct tp_call_tree *tree);
void tp_loop_release(struct tp_loop *loop);

#endif
