/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder of a job: one recording for each rank, "rank-0", "rank-1". A rank that was started
 * again has "rank-1.2". Who comes first makes the folder, and nobody needs another rank for it.
 */
#ifndef TRAINPROF_SRC_CLI_SESSION_JOB_FOLDER_H
#define TRAINPROF_SRC_CLI_SESSION_JOB_FOLDER_H

#include "trainprof/base/arena.h"
#include "trainprof/base/status.h"
#include "trainprof/model/run_info.h"

#include <stdbool.h>
#include <stddef.h>

/* What our own environment says; tp_job_place_find(). */
bool tp_job_folder_place(struct tp_job_place *out, struct tp_arena *arena);

/* What all ranks of a job call its folder: a name that is made of the job's id, since ranks start
 * at different times. To be freed. */
char *tp_job_folder_name(const struct tp_job_place *place);

/* "DIR/rank-3", and the one after `before` where that is not NULL: "DIR/rank-3.2". To be freed. */
char *tp_job_folder_rank(const char *folder, const struct tp_job_place *place, const char *before);

/* The number of a rank by the name of its recording; false where that is another name. */
bool tp_job_folder_number(const char *rank_directory, int64_t *out);

/* Make it. Errors  TP_EXISTS (a recording, or no folder), TP_IO, TP_DENIED. */
TP_MUST_CHECK enum tp_status tp_job_folder_create(const char *folder, struct tp_error *err);

/* A recording in a folder, a digest without one, or a file of digests. */
struct tp_job_member {
	char *directory; /* heap; of the file, its path */
	char *digest;    /* heap; NULL = it has none */
	struct tp_run_info run;
	bool is_closed;
	bool is_file;
	bool is_loaded;             /* by whoever reads them: its digest was used */
	struct tp_error unreadable; /* status is not TP_OK: why, and `run` is empty */
};

struct tp_job_members {
	struct tp_arena arena; /* of texts */
	struct tp_job_member *items;
	size_t n, capacity;
};

/* Add a directory: itself where it is a recording, otherwise those in it, in the order of names; or
 * a file of digests. Errors  TP_ABSENT (there is none), TP_IO. */
TP_MUST_CHECK enum tp_status tp_job_members_add(struct tp_job_members *members,
						const char *directory, struct tp_error *err);
void tp_job_members_release(struct tp_job_members *members);

/* Whether it holds recordings and is none itself, or is a file of digests. */
bool tp_job_folder_is_one(const char *directory);

/* Whether both are of the same start of a job. Launchers that name no id are told apart by their
 * number of ranks alone. */
bool tp_job_is_same(const struct tp_job_place *a, const struct tp_job_place *b);

/* How many ranks of this job have a recording in the folder, and how many of these are closed. */
struct tp_job_census {
	size_t n_seen;
	size_t n_closed; /* or have a digest */
};
struct tp_job_census tp_job_folder_count(const char *folder, const struct tp_job_place *place,
					 bool needs_digests);

/* True for one of all that ask, once for each time that the job was started: `rank_directory` is
 * the recording of whoever asks. */
bool tp_job_folder_lock_summary(const char *folder, const struct tp_job_place *place,
				const char *rank_directory);

#endif
