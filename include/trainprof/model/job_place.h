/* SPDX-License-Identifier: Apache-2.0 */
/* Which rank of which job a process is, by the variables that its launcher has set. */
#ifndef TRAINPROF_MODEL_JOB_PLACE_H
#define TRAINPROF_MODEL_JOB_PLACE_H

#include "trainprof/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* Texts live in the arena of whoever made it. All zero: the process is no rank of a job. */
struct tp_job_place {
	const char *launcher; /* "Open MPI", "torchrun"; NULL = it is no rank */
	const char *id;       /* of the job, as its launcher names it; NULL = unknown */
	int64_t rank;         /* 0, 1 … */
	uint32_t n_ranks;     /* of the job; 0 = unknown */
	int64_t local_rank;   /* among those of its host; -1 = unknown */
	uint32_t attempt;     /* how often an elastic launcher has started it anew */
	/* Variables that cannot be true together ("RANK=7 of WORLD_SIZE=2"), or NULL. When they are
	 * those that `rank` is from, n_ranks is 0. */
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

/* The value of an environment variable of the process that is asked about; NULL = not set. */
typedef const char *tp_variable_fn(const void *context, const char *name);

/*
 * What the variables say. Launchers may be nested: the innermost that is known counts. A job of one
 * rank is none. Returns whether it is a rank; `out` also holds a contradiction when it is not.
 */
bool tp_job_place_find(struct tp_job_place *out, tp_variable_fn *variable, const void *context,
		       struct tp_arena *arena);

/* A deep copy into an arena. */
void tp_job_place_copy(struct tp_job_place *out, const struct tp_job_place *from,
		       struct tp_arena *arena);

#endif
