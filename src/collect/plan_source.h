/* SPDX-License-Identifier: Apache-2.0 */
/* The running sources of a plan, for the loop that drives them. */
#ifndef TRAINPROF_SRC_COLLECT_PLAN_SOURCE_H
#define TRAINPROF_SRC_COLLECT_PLAN_SOURCE_H

#include "trainprof/collect/plan.h"

/* Returns NULL if the i-th row does not run. */
struct tp_collector *tp_plan_source(const struct tp_plan *plan, size_t i);
/* Stops a source that failed and records the reason. The run continues. */
void tp_plan_drop(struct tp_plan *plan, size_t i, uint64_t now_ns, const struct tp_error *why);
/* Returns the clock that accounts our own CPU time. */
struct tp_stage_clock *tp_plan_stages(struct tp_plan *plan);
/* Returns the sink for the sources' records. */
struct tp_sink *tp_plan_sink(const struct tp_plan *plan);
/* Sleeps until the last threads of the target have left the kernel, at most two seconds: then it
 * can be reaped (process/thread_exit.h). */
void tp_plan_wait_for_threads(const struct tp_plan *plan);
/* Pauses or resumes all sources. May be called before tp_plan_start(). */
void tp_plan_pause(struct tp_plan *plan, bool is_paused, uint64_t now_ns);

#endif
