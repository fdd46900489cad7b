/* SPDX-License-Identifier: Apache-2.0 */
/* Where in the source a loop stands: known of Python programs only. */
#ifndef TRAINPROF_SRC_ANALYZE_STEPS_LOOP_LOCATION_H
#define TRAINPROF_SRC_ANALYZE_STEPS_LOOP_LOCATION_H

#include "loop_finder.h"

struct tp_loop_location {
	uint64_t function; /* as tp_call_tree_function(); 0 = not known */
	uint32_t file;     /* string ids */
	uint32_t symbol;   /* the function that loops */
	uint32_t
		first_line; /* from the first to the last line from which the loop calls anything */
	uint32_t last_line; /* that comes back */
	uint32_t marker_line; /* from which it calls, once per round, what marks rounds; 0 = none */
	uint32_t marker;      /* node of what is called there, where marker_line is known */
};

/* Takes it for the loop of the run; where it is not known nothing changes. */
void tp_loop_location_apply(const struct tp_loop_location *place, struct tp_analysis *analysis);

/* All zero where the loop is absent or not one of Python. `counter` is the name of a variable that
 * counts its rounds, a string as tp_counter_steps has it: whose variable it is loops. 0 = none is
 * known.
 */
void tp_loop_location_find(struct tp_loop_location *out, const struct tp_loop *loop,
			   const struct tp_call_tree *tree, const struct tp_trace *trace,
			   uint32_t counter);

#endif
