/* SPDX-License-Identifier: Apache-2.0 */
/* One function, its callees, and the callee that recurs once per round. */
#ifndef TRAINPROF_SRC_ANALYZE_STEPS_LOOP_LEVEL_H
#define TRAINPROF_SRC_ANALYZE_STEPS_LOOP_LEVEL_H

#include "callee_rounds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TP_MAX_CALLEES = 48 };

struct tp_loop_level {
	uint32_t node;
	struct tp_callee callees[TP_MAX_CALLEES]; /* callees with at least 2 % of its time */
	size_t n_callees;
	uint32_t marker; /* index of the callee that marks rounds; TP_MAX_CALLEES = none */
	bool has_turns;  /* the marker's intervals are rounds found by the order of the callees */
};

/* Allocates heap memory, which release frees. */
void tp_loop_level_init(struct tp_loop_level *level, const struct tp_call_tree *tree,
			uint32_t node);
void tp_loop_level_release(struct tp_loop_level *level);

/* Adds deeper functions as callees and chooses the marker again, among clearly regular ones only:
 * interpreters call everything from one place. */
void tp_loop_level_add_deeper(struct tp_loop_level *level, const struct tp_call_tree *tree);

/* Returns true if its direct callees recur too fast to be counted: most of its time, never
 * resolved. */
bool tp_loop_level_is_too_fast(const struct tp_loop_level *level, const struct tp_call_tree *tree);

/* The possibility that intervals of the marker represent several rounds: it waits for one of
 * several loaders, whose batches do not all come with a wait, and no other callee counts the
 * rounds. */
enum tp_groups {
	TP_GROUPS_NONE,
	TP_GROUPS_POSSIBLE,
	TP_GROUPS_LIKELY, /* also the work between intervals varies */
};
enum tp_groups tp_loop_level_groups(const struct tp_loop_level *level,
				    const struct tp_call_tree *tree);

#endif
