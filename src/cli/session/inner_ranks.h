/* SPDX-License-Identifier: Apache-2.0 */
/* The ranks in one recording of a launcher. */
#ifndef TRAINPROF_SRC_CLI_SESSION_INNER_RANKS_H
#define TRAINPROF_SRC_CLI_SESSION_INNER_RANKS_H

#include "trainprof/analyze/job_join.h"

/* By their launcher, otherwise by their roles, for which the recording is analysed; 0 where there
 * are fewer than two. In the arena. */
size_t tp_inner_ranks_find(struct tp_inner_rank **out, const struct tp_trace *trace,
			   const struct tp_patterns *patterns, const struct tp_analyze_options *how,
			   struct tp_arena *arena);

#endif
