/* SPDX-License-Identifier: Apache-2.0 */
/* The counter of the training loop, compared with the rounds that call stacks show. */
#ifndef TRAINPROF_SRC_ANALYZE_STEPS_COUNTER_CHOICE_H
#define TRAINPROF_SRC_ANALYZE_STEPS_COUNTER_CHOICE_H

#include "analyze/counters/counter_steps.h"
#include "loop_finder.h"

/* Searches a counter in the loop, then in the rest of the run, because stacks may show a loop of
 * imports or of preparation and miss the training. The caller releases `counted` in any case. */
bool tp_counter_choice_find(struct tp_counter_steps *counted, const struct tp_analysis *analysis,
			    const struct tp_loop *loop);
/* Returns true if a watchpoint saw nearly all steps begin. */
bool tp_counter_choice_is_exact(const struct tp_counter_steps *counted);
/* Returns true if the counter's borders are to be preferred to the rounds in stacks. */
bool tp_counter_choice_is_better(const struct tp_counter_steps *counted,
				 const struct tp_loop *loop);
/* Returns true if rounds of a for loop begin inside stays of the marker: what lies between two
 * calls of it is too short for the samples, so that stacks show several calls as one. The marker
 * must be called by the function that contains the for loop. */
bool tp_counter_choice_splits_calls(const struct tp_counter_steps *counted,
				    const struct tp_loop *loop);
/* Returns true if both counts are equal, except for rounds that either may miss. */
bool tp_counter_choice_is_same(const struct tp_counter_steps *counted, const struct tp_loop *loop);
/* Returns the end of the loop; that of the run if stacks show no loop. */
uint64_t tp_counter_choice_until_ns(const struct tp_analysis *analysis, const struct tp_loop *loop);

#endif
