/* SPDX-License-Identifier: Apache-2.0 */
/* Derives the result for a job from the profiles of its ranks. Only one profile is needed at a
 * time, so memory is bounded by the steps of all ranks. */
#ifndef TRAINPROF_ANALYZE_JOB_JOIN_H
#define TRAINPROF_ANALYZE_JOB_JOIN_H

#include "trainprof/analyze/analyze.h"
#include "trainprof/model/job_result.h"
#include "trainprof/model/profile.h"

/* A rank in a recording that holds several. */
struct tp_inner_rank {
	uint32_t root; /* leader of its first process */
	pid_t pid;
	int64_t number;   /* -1 = unknown */
	uint32_t n_ranks; /* of the job; 0 = unknown */
};

/* The ranks among the processes of a recording, by number, as their launcher reports them; 0 if
 * there are fewer than two. */
size_t tp_job_ranks_by_launcher(struct tp_inner_rank **out, const struct tp_trace *trace,
				struct tp_arena *arena);
/* If no launcher reports ranks, as with multiprocessing.spawn: true if it is worthwhile to
 * determine roles and to search for processes of one program that train in parallel and exchange
 * data. */
bool tp_job_may_hold_ranks(const struct tp_trace *trace);
size_t tp_job_ranks_by_roles(struct tp_inner_rank **out, const struct tp_profile *profile,
			     struct tp_arena *arena);

/* The origin of a rank. Texts are copied. */
struct tp_job_source {
	const char *directory; /* of the recording, as the user can type it */
	const struct tp_run_info *run;
	const struct tp_job_place *place;
	pid_t pid;
	bool is_cut;
	bool is_inner;     /* the recording contains several ranks */
	size_t n_sharing;  /* their number; 0 and 1 = the recording is of this rank alone */
	uint64_t ended_ns; /* end of such a rank, since the start of the recording; 0 = it did not
			      end */
};

/* A job without ranks. */
void tp_job_init(struct tp_job *job);

/* Adds a rank by its profile (NULL: it could not be read, `why`). Keeps neither. */
void tp_job_add(struct tp_job *job, const struct tp_job_source *source,
		const struct tp_profile *profile, const char *why);

/* Joins the added ranks; called once, at the end. Never fails: unknown results are marked in the
 * job. */
void tp_job_join(struct tp_job *job);

#endif
