/* SPDX-License-Identifier: Apache-2.0 */
/* The facts that a step of the plan has to change, and by how much. */
#ifndef TRAINPROF_SRC_ADVISE_PLAN_PLAN_TARGETS_H
#define TRAINPROF_SRC_ADVISE_PLAN_PLAN_TARGETS_H

#include "advise/judge/finding_order.h"
#include "advise/judge/judge.h"

#include "trainprof/model/action_plan.h"

/* Returns one target for each fact that the gains of the candidates affect, in context->arena: the
 * share of the label or part in the step, or in the loop. With L its share, E and S the exposed and
 * solo share of the part and f the fractions that are removed, L - f·E is left at best and L - f·S
 * at worst (gain.h). There is no target if no fact has the share. */
const struct tp_plan_target *tp_plan_targets_build(const struct tp_rule_context *context,
						   const struct tp_candidate *const *candidates,
						   size_t n, size_t *n_targets);

#endif
