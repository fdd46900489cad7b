/* SPDX-License-Identifier: Apache-2.0 */
/* Identifies the rank and job of a process from the variables that its launcher has set. */
#ifndef TRAINPROF_MODEL_JOB_PLACE_H
#define TRAINPROF_MODEL_JOB_PLACE_H

#include "trainprof/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* Texts live in the arena that was passed in. All zero: the process is not a rank of a job. */
struct tp_job_place {
	const char *launcher; /* "Open MPI", "torchrun"; NULL = not a rank */
	const char *id;       /* the job's id as its launcher names it; NULL = unknown */
	int64_t rank;         /* 0, 1 … */
	uint32_t n_ranks;     /* number of ranks in the job; 0 = unknown */
	int64_t local_rank;   /* rank on its host; -1 = unknown */
	uint32_t attempt;     /* how often an elastic launcher has restarted it */
	/* Variables that contradict each other ("RANK=7 of WORLD_SIZE=2"), or NULL. If `rank` comes
	 * from them, n_ranks is 0. */
	const char *contradiction;
};

/* Its members in documents; types as in run_info.h. */
#define TP_JOB_PLACE_MAP(X)                                                                        \
	X(launcher, text, "launcher", "launcher", known)                                           \
	X(id, text, "id", "id", known)                                                             \
	X(rank, ordinal, "rank", "rank", always)                                                   \
	X(n_ranks, count32, "ranks", "ranks", known)                                               \
	X(local_rank, ordinal, "local_rank", "local_rank", known)                                  \
	X(attempt, count32, "attempt", "attempt", always)                                          \
	X(contradiction, text, "contradiction", "contradiction", known)

/* Returns the value of an environment variable of the process in question; NULL = not set. */
typedef const char *tp_variable_fn(const void *context, const char *name);

/* Evaluates the variables. Launchers may be nested: the innermost known one counts. A job of one
 * rank is not a job. Returns true if the process is a rank; `out` also holds a contradiction if it
 * is not. */
bool tp_job_place_find(struct tp_job_place *out, tp_variable_fn *variable, const void *context,
		       struct tp_arena *arena);

/* A deep copy into an arena. */
void tp_job_place_copy(struct tp_job_place *out, const struct tp_job_place *from,
		       struct tp_arena *arena);

#endif
