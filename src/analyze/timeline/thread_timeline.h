/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline of one thread: what it did from its start to its end, without gaps. */
#ifndef TRAINPROF_SRC_ANALYZE_TIMELINE_THREAD_TIMELINE_H
#define TRAINPROF_SRC_ANALYZE_TIMELINE_THREAD_TIMELINE_H

#include "analyze/analysis.h"
#include "analyze/numeric/intervals.h"

/* The on-CPU time of the threads of one process, merged and in time order. */
struct tp_group_runs {
	struct tp_intervals loaders; /* of threads that most likely load data */
	struct tp_intervals others;
};

/* Sets the timeline, whose segments lie in the arena of the analysis. Needs analysis->classes. */
void tp_thread_timeline_build(struct tp_timeline *out, const struct tp_analysis *analysis,
			      uint32_t id, const struct tp_group_runs *group_runs);

#endif
