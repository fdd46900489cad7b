/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the ranks that a launcher started within one recording. */
#ifndef TRAINPROF_SRC_CLI_SESSION_INNER_RANKS_H
#define TRAINPROF_SRC_CLI_SESSION_INNER_RANKS_H

#include "trainprof/analyze/job_join.h"

/* Finds ranks by their launcher, otherwise by their roles, for which the recording is analysed.
 * Returns 0 if there are fewer than two. The ranks are in the arena. */
size_t tp_inner_ranks_find(struct tp_inner_rank **out, const struct tp_trace *trace,
			   const struct tp_patterns *patterns, const struct tp_analyze_options *how,
			   struct tp_arena *arena);

#endif
