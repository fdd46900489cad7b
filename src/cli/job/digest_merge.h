/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges digests and recordings into one job file, one source at a time: memory does not grow with
 * the job but for the names of sources. What was merged when it was ended is not read again.
 */
#ifndef TRAINPROF_SRC_CLI_JOB_DIGEST_MERGE_H
#define TRAINPROF_SRC_CLI_JOB_DIGEST_MERGE_H

#include "cli/session/analysis_session.h"
#include "trainprof/base/map.h"
#include "trainprof/store/rank_digest.h"

#include <stdio.h>

struct tp_digest_merge {
	const struct tp_analysis_session_options *how; /* borrowed, to read recordings */
	struct tp_patterns *patterns;                  /* NULL until a recording is read */
	char *path;                                    /* of the job file */
	char *part;                                    /* of the same while it is written */
	FILE *out;
	struct tp_map done; /* hashes of names of sources */
	struct tp_buf group;
	struct tp_digest_counts counts;
	uint64_t n_before;  /* sources that an earlier merge had read */
	bool keeps_names;   /* sources of job files are called as in these, without the file's */
	uint64_t n_divisor; /* of ranks by their number, only those with this remainder; 0 = all */
	uint64_t remainder;
	struct tp_error write_error; /* status is not TP_OK: writing failed, and all after it */
};

/*
 * Begin, or go on where an earlier one was ended.
 * Errors  TP_EXISTS (the job file is there), TP_BUSY (another merge writes it), TP_IO, TP_DENIED.
 */
TP_MUST_CHECK enum tp_status tp_digest_merge_open(struct tp_digest_merge *merge, const char *path,
						  const struct tp_analysis_session_options *how,
						  struct tp_error *err);
/*
 * A recording, a digest or job file, or a folder of these. What cannot be read is said on stderr
 * and counted, and the job file names it. Errors  TP_ABSENT (nothing of the kind there), TP_IO.
 */
TP_MUST_CHECK enum tp_status tp_digest_merge_add(struct tp_digest_merge *merge, const char *word,
						 struct tp_error *err);
/* Give the file its name. */
TP_MUST_CHECK enum tp_status tp_digest_merge_finish(struct tp_digest_merge *merge,
						    struct tp_error *err);
/* In either case, last. */
void tp_digest_merge_close(struct tp_digest_merge *merge);

#endif
