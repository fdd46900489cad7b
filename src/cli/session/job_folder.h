/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of a job: one recording for each rank, "rank-0", "rank-1". A rank that was started
 * again has "rank-1.2". The first rank makes the folder; no rank depends on another one for it. */
#ifndef TRAINPROF_SRC_CLI_SESSION_JOB_FOLDER_H
#define TRAINPROF_SRC_CLI_SESSION_JOB_FOLDER_H

#include "trainprof/base/arena.h"
#include "trainprof/base/status.h"
#include "trainprof/model/run_info.h"

#include <stdbool.h>
#include <stddef.h>

/* Reads the place from our own environment; see tp_job_place_find(). */
bool tp_job_folder_place(struct tp_job_place *out, struct tp_arena *arena);

/* The common name of the folder for all ranks of a job: it is made of the job's id, because ranks
 * start at different times. Freed by the caller. */
char *tp_job_folder_name(const struct tp_job_place *place);

/* Returns "DIR/rank-3", or the name after `before` if that is not NULL: "DIR/rank-3.2". Freed by
 * the caller. */
char *tp_job_folder_rank(const char *folder, const struct tp_job_place *place, const char *before);

/* The number of a rank from the name of its recording; false for other names. */
bool tp_job_folder_number(const char *rank_directory, int64_t *out);

/* Makes the folder.
 * Errors  TP_EXISTS (a recording, or no folder), TP_IO, TP_DENIED. */
TP_MUST_CHECK enum tp_status tp_job_folder_create(const char *folder, struct tp_error *err);

/* A recording in a folder, a digest without one, or a file of digests. */
struct tp_job_member {
	char *directory; /* heap; for a file of digests, its path */
	char *digest;    /* heap; NULL = it has none */
	struct tp_run_info run;
	bool is_closed;
	bool is_file;
	bool is_loaded;             /* set by the reader: its digest was used */
	struct tp_error unreadable; /* the reason if status is not TP_OK; then `run` is empty */
};

struct tp_job_members {
	struct tp_arena arena; /* for texts */
	struct tp_job_member *items;
	size_t n, capacity;
};

/* Adds a directory: itself if it is a recording, otherwise the recordings in it, in the order of
 * names; or a file of digests.
 * Errors  TP_ABSENT (there is none), TP_IO. */
TP_MUST_CHECK enum tp_status tp_job_members_add(struct tp_job_members *members,
						const char *directory, struct tp_error *err);
void tp_job_members_release(struct tp_job_members *members);

/* True if the directory contains recordings and is none itself, or is a file of digests. */
bool tp_job_folder_is_one(const char *directory);

/* True if both belong to the same start of a job. Jobs of launchers without an id are distinguished
 * only by their number of ranks. */
bool tp_job_is_same(const struct tp_job_place *a, const struct tp_job_place *b);

/* Number of ranks of this job that have a recording in the folder, and number of closed ones among
 * these. */
struct tp_job_census {
	size_t n_seen;
	size_t n_closed; /* closed, or with a digest */
};
struct tp_job_census tp_job_folder_count(const char *folder, const struct tp_job_place *place,
					 bool needs_digests);

/* True for exactly one caller per start of the job: `rank_directory` is the recording of the
 * caller. */
bool tp_job_folder_lock_summary(const char *folder, const struct tp_job_place *place,
				const char *rank_directory);

#endif
