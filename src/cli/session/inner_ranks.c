/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the ranks that a launcher started within one recording. */
#include "inner_ranks.h"

size_t tp_inner_ranks_find(struct tp_inner_rank **out, const struct tp_trace *trace,
			   const struct tp_patterns *patterns, const struct tp_analyze_options *how,
			   struct tp_arena *arena)
{
	struct tp_profile profile;
	size_t n = tp_job_ranks_by_launcher(out, trace, arena);
	if (n || !tp_job_may_hold_ranks(trace) ||
	    tp_analyze(&profile, trace, patterns, how, NULL) != TP_OK)
		return n;
	n = tp_job_ranks_by_roles(out, &profile, arena);
	tp_profile_release(&profile);
	return n;
}
