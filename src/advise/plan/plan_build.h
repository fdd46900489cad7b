/* SPDX-License-Identifier: Apache-2.0 */
/* The shown advice as a course of moves (trainprof/model/action_plan.h). */
#ifndef TRAINPROF_SRC_ADVISE_PLAN_PLAN_BUILD_H
#define TRAINPROF_SRC_ADVISE_PLAN_PLAN_BUILD_H

#include "advise/judge/finding_order.h"
#include "advise/judge/judge.h"

/*
 * Make moves of the first `n` candidates, which are the shown advice in the order of their rank; a
 * candidate's place is its finding's. What is of one technique, or pays only together, is one move.
 * Moves stand in the order of diagnosis, which is that of the limit that a rule names first, then
 * of rank; behind them those that are small beside the largest ($plan.large, of the logarithms);
 * bounds are those of tp_gain_combine(). All is in matter->arena.
 */
void tp_action_plan_build(struct tp_action_plan *out, const struct tp_rule_context *matter,
			  const struct tp_candidate *candidates, size_t n);

/* The largest part that is left, and what rate it allows; of `then` of tp_gain_combine(). */
/* NULL also where next to nothing of the step would be left: nobody gets there. */
const char *tp_next_limit_name(const struct tp_next_limit *then,
			       const struct tp_rule_context *matter);
double tp_next_limit_steps_per_s(const struct tp_next_limit *then,
				 const struct tp_rule_context *matter);

#endif
