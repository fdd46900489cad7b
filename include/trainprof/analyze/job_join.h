/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the profiles of ranks to what can be said of their job. One profile is needed at a time, so
 * memory is bounded by the steps of all ranks.
 */
#ifndef TRAINPROF_ANALYZE_JOB_JOIN_H
#define TRAINPROF_ANALYZE_JOB_JOIN_H

#include "trainprof/analyze/analyze.h"
#include "trainprof/model/job_result.h"
#include "trainprof/model/profile.h"

/* A rank in a recording that holds several. */
struct tp_inner_rank {
	uint32_t root; /* leader of its first process */
	pid_t pid;
	int64_t number;   /* -1: nobody told it */
	uint32_t n_ranks; /* of the job; 0 = unknown */
};

/* The ranks among the processes of a recording, by number, as their launcher has told them; 0 where
 * there are fewer than two. */
size_t tp_job_ranks_by_launcher(struct tp_inner_rank **out, const struct tp_trace *trace,
				struct tp_arena *arena);
/*
 * Where no launcher has told them, as under multiprocessing.spawn: whether it is worth a look at
 * roles, and the processes of one program that train side by side and exchange data.
 */
bool tp_job_may_hold_ranks(const struct tp_trace *trace);
size_t tp_job_ranks_by_roles(struct tp_inner_rank **out, const struct tp_profile *profile,
			     struct tp_arena *arena);

/* Where a rank comes from. Texts are copied. */
struct tp_job_source {
	const char *directory; /* of the recording, as the user can type it */
	const struct tp_run_info *run;
	const struct tp_job_place *place;
	pid_t pid;
	bool is_cut;
	bool is_inner;     /* the recording is of several ranks */
	uint64_t ended_ns; /* of such a rank, since the recording began; 0 = it did not */
};

/* A job without ranks. */
void tp_job_init(struct tp_job *job);

/* Add a rank by its profile (NULL: it could not be read, `why`). Keeps nothing of either. */
void tp_job_add(struct tp_job *job, const struct tp_job_source *source,
		const struct tp_profile *profile, const char *why);

/* Join what was added; once, at the end. Never fails: what cannot be known is said in the job. */
void tp_job_join(struct tp_job *job);

#endif
