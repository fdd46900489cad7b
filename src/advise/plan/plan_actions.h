/* SPDX-License-Identifier: Apache-2.0 */
/* The actions of one step of the plan: the techniques of its advice, and those that belong to
 * them. */
#ifndef TRAINPROF_SRC_ADVISE_PLAN_PLAN_ACTIONS_H
#define TRAINPROF_SRC_ADVISE_PLAN_PLAN_ACTIONS_H

#include "advise/judge/judge.h"

#include "trainprof/model/action_plan.h"

/* Returns the action to begin with: the first one, if the gain of the rule is known; else the first
 * that does more than save memory, if there is one. NULL if the finding has no action. */
const struct tp_action *tp_plan_actions_first(const struct tp_rulebook *book,
					      const struct tp_finding *finding);

/* Returns the actions of the findings, the leading one first, in context->arena; nothing is added
 * that is done already. */
const struct tp_plan_action *tp_plan_actions_build(const struct tp_rule_context *context,
						   const struct tp_finding *const *findings,
						   size_t n_findings, size_t *n_actions);

#endif
