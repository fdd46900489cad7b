/* SPDX-License-Identifier: Apache-2.0 */
/* The likely causes of a slowdown, in sentences. */
#ifndef TRAINPROF_SRC_GATE_CAUSE_H
#define TRAINPROF_SRC_GATE_CAUSE_H

#include "trainprof/base/arena.h"
#include "trainprof/model/budget_result.h"
#include "trainprof/model/run_diff.h"

/* Lists the first advice of the run: all that is known without a baseline. */
size_t tp_cause_of_run(const char *out[TP_BUDGET_CAUSES_MAX], const struct tp_run_values *run,
		       struct tp_arena *arena);

/* Lists parts that grew, settings that changed, advice and lines that are new, and the commits of
 * both sides; the most informative first. Returns their number, at most TP_BUDGET_CAUSES_MAX. */
size_t tp_cause_list(const char *out[TP_BUDGET_CAUSES_MAX], const struct tp_run_diff *diff,
		     struct tp_arena *arena);

#endif
