/* SPDX-License-Identifier: Apache-2.0 */
/* The source location of a loop; available for Python programs only. */
#ifndef TRAINPROF_SRC_ANALYZE_STEPS_LOOP_LOCATION_H
#define TRAINPROF_SRC_ANALYZE_STEPS_LOOP_LOCATION_H

#include "loop_finder.h"

struct tp_loop_location {
	uint64_t function;    /* as tp_call_tree_function(); 0 = not known */
	uint32_t file;        /* string ids */
	uint32_t symbol;      /* name of the looping function */
	uint32_t first_line;  /* first line at which the loop calls a recurring function */
	uint32_t last_line;   /* the last such line */
	uint32_t marker_line; /* line of the call, once per round, of the function that marks
				 rounds; 0 = none */
	uint32_t marker;      /* node of the function called there, if marker_line is known */
};

/* Makes this the loop of the run; changes nothing if the location is unknown. */
void tp_loop_location_apply(const struct tp_loop_location *place, struct tp_analysis *analysis);

/* Returns true if the function that contains the loop, or a caller of it, has the counter, a name
 * as in tp_counter_steps. */
bool tp_loop_location_has_counter(const struct tp_loop *loop, const struct tp_call_tree *tree,
				  const struct tp_trace *trace, uint32_t counter);

/* Sets all fields to 0 if there is no loop, or if it is not a Python loop. `counter` is the name of
 * a variable that counts its rounds, a string as in tp_counter_steps: its function is the looping
 * one. 0 = not known. */
void tp_loop_location_find(struct tp_loop_location *out, const struct tp_loop *loop,
			   const struct tp_call_tree *tree, const struct tp_trace *trace,
			   uint32_t counter);

#endif
