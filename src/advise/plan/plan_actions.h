/* SPDX-License-Identifier: Apache-2.0 */
/* What is done in one move: the techniques of its advice, and those that go with them. */
#ifndef TRAINPROF_SRC_ADVISE_PLAN_PLAN_ACTIONS_H
#define TRAINPROF_SRC_ADVISE_PLAN_PLAN_ACTIONS_H

#include "advise/judge/judge.h"

#include "trainprof/model/action_plan.h"

/* The action to begin with: the first, where the rule knows what it gains; else the first that is
 * no technique for memory alone, if there is one. NULL when the finding has none. */
const struct tp_action *tp_plan_actions_first(const struct tp_rulebook *book,
					      const struct tp_finding *finding);

/* Deeds of the findings, the leading one first, in matter->arena; of what is done already nothing
 * is added. */
const struct tp_plan_action *tp_plan_actions_build(const struct tp_rule_context *matter,
						   const struct tp_finding *const *findings,
						   size_t n_findings, size_t *n_deeds);

#endif
