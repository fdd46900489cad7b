/* SPDX-License-Identifier: Apache-2.0 */
/* Writes sentences about what weakens a comparison of runs. */
#ifndef TRAINPROF_SRC_GATE_DIFF_WARNINGS_H
#define TRAINPROF_SRC_GATE_DIFF_WARNINGS_H

#include "trainprof/base/arena.h"
#include "trainprof/gate/gate.h"

/* Why usual steps that are not slower do not pass. */
#define TP_GATE_SPECIAL_DIFFER                                                                     \
	"usual steps are compared, and checkpoints, evaluations or slow steps take more of the "   \
	"loop"

/* Adds a warning; one too many is dropped. */
void tp_diff_warn(struct tp_run_diff *out, const char *text);

/* Adds warnings of runs that failed or were not closed, and of time that no step of the comparison
 * holds. */
void tp_diff_warn_of_runs(struct tp_run_diff *out, const struct tp_diff_request *request,
			  struct tp_arena *arena);

#endif
