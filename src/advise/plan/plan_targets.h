/* SPDX-License-Identifier: Apache-2.0 */
/* Which numbers a move has to change, and how far. */
#ifndef TRAINPROF_SRC_ADVISE_PLAN_PLAN_TARGETS_H
#define TRAINPROF_SRC_ADVISE_PLAN_PLAN_TARGETS_H

#include "advise/judge/finding_order.h"
#include "advise/judge/judge.h"

#include "trainprof/model/action_plan.h"

/*
 * One target for each fact that the gains of the candidates are about, in matter->arena: the share
 * of the label or part of the step, or of the loop. With L its share, E and S the exposed and solo
 * share of the part and f the fractions that go away, L - f·E is left at best and L - f·S at worst
 * (gain.h). Where no fact tells the share there is none.
 */
const struct tp_plan_target *tp_plan_targets_build(const struct tp_rule_context *matter,
						   const struct tp_candidate *const *candidates,
						   size_t n, size_t *n_targets);

#endif
