/* SPDX-License-Identifier: Apache-2.0 */
/* The running sources of a plan, for the loop that drives them. */
#ifndef TRAINPROF_SRC_COLLECT_PLAN_SOURCE_H
#define TRAINPROF_SRC_COLLECT_PLAN_SOURCE_H

#include "trainprof/collect/plan.h"

/* NULL when the i-th row does not run. */
struct tp_collector *tp_plan_source(const struct tp_plan *plan, size_t i);
/* It failed: stop it and say so. The run goes on. */
void tp_plan_drop(struct tp_plan *plan, size_t i, uint64_t now_ns, const struct tp_error *why);
/* What our own CPU time goes for. */
struct tp_stage_clock *tp_plan_stages(struct tp_plan *plan);
/* Where the sources put their records. */
struct tp_sink *tp_plan_sink(const struct tp_plan *plan);
/* All of them. Before tp_plan_start() too. */
void tp_plan_pause(struct tp_plan *plan, bool is_paused, uint64_t now_ns);

#endif
