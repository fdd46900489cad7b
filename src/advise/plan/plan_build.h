/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a plan from the shown advice (trainprof/model/action_plan.h). */
#ifndef TRAINPROF_SRC_ADVISE_PLAN_PLAN_BUILD_H
#define TRAINPROF_SRC_ADVISE_PLAN_PLAN_BUILD_H

#include "advise/judge/finding_order.h"
#include "advise/judge/judge.h"

/*
 * Builds the steps from the first `n` candidates, which are the shown advice in the order of their
 * rank; the index of a candidate is that of its finding. Advice of one technique, or advice that
 * pays only together, forms one step. Steps are sorted by the order of diagnosis, which is that of
 * the limit that a rule names first, then by rank; after them come those with a small gain compared
 * with the largest one ($plan.large, of the logarithms); bounds are those of tp_gain_combine().
 * Everything is in context->arena.
 */
void tp_action_plan_build(struct tp_action_plan *out, const struct tp_rule_context *context,
			  const struct tp_candidate *candidates, size_t n);

/* The name of the largest remaining part, and the rate that it allows; `then` comes from
 * tp_gain_combine(). Also NULL and 0 if almost nothing of the step would be left: that is not
 * reachable. */
const char *tp_next_limit_name(const struct tp_next_limit *then,
			       const struct tp_rule_context *context);
double tp_next_limit_steps_per_s(const struct tp_next_limit *then,
				 const struct tp_rule_context *context);

#endif
