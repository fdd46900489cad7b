/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the training loop in the call paths of a thread: the function whose callees recur, and the
 * callee ("marker") that recurs once per step. */
#ifndef TRAINPROF_SRC_ANALYZE_STEPS_LOOP_FINDER_H
#define TRAINPROF_SRC_ANALYZE_STEPS_LOOP_FINDER_H

#include "callee_rounds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tp_loop_state {
	TP_LOOP_ABSENT,   /* nothing recurs */
	TP_LOOP_TOO_FAST, /* a function recurs, but too fast for the sampling rate */
	TP_LOOP_GROUPS,   /* a function recurs, but each time may represent several rounds */
	TP_LOOP_FOUND,
};

struct tp_loop {
	enum tp_loop_state state;
	uint32_t node;   /* function that contains the loop; TP_NO_NODE if absent */
	uint32_t marker; /* its callee that is called once per step */
	struct tp_callee_interval *stays; /* intervals of the marker, heap; TP_LOOP_FOUND only */
	size_t n_stays;
	bool may_be_groups; /* TP_LOOP_FOUND: an interval may represent several rounds; unknown */
	double regularity;  /* share of periods within 50 % of the median period */
	uint64_t period_ns;
	uint64_t start_ns; /* from the first to the last hit of the recurring callees */
	uint64_t end_ns;
};

/* Allocates heap memory, which release frees. */
void tp_loop_find(struct tp_loop *loop, const struct tp_call_tree *tree);
void tp_loop_release(struct tp_loop *loop);

#endif
