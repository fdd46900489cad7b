/* SPDX-License-Identifier: Apache-2.0 */
/* Merges digests and recordings into one job file, one source at a time: except for the names of
 * sources, memory does not grow with the job. Sources that were merged before an interruption are
 * not read again. */
#ifndef TRAINPROF_SRC_CLI_JOB_DIGEST_MERGE_H
#define TRAINPROF_SRC_CLI_JOB_DIGEST_MERGE_H

#include "cli/session/analysis_session.h"
#include "trainprof/base/map.h"
#include "trainprof/store/rank_digest.h"

#include <stdio.h>

struct tp_digest_merge {
	const struct tp_analysis_session_options *how; /* borrowed, to read recordings */
	struct tp_patterns *patterns;                  /* NULL until a recording is read */
	char *path;                                    /* path of the job file */
	char *part;                                    /* its path while it is written */
	FILE *out;
	struct tp_map done; /* hashes of the names of sources */
	struct tp_buf group;
	struct tp_digest_counts counts;
	uint64_t n_before; /* number of sources that an earlier merge has read */
	bool keeps_names;  /* sources of job files keep their names, without the name of the file */
	uint64_t n_divisor; /* only ranks whose number modulo this is the remainder; 0 = all */
	uint64_t remainder;
	struct tp_error write_error; /* set once writing has failed: nothing more is written */
};

/* Begins a merge, or continues one that was interrupted.
 * Errors  TP_EXISTS (the job file exists), TP_BUSY (another merge writes it), TP_IO, TP_DENIED. */
TP_MUST_CHECK enum tp_status tp_digest_merge_open(struct tp_digest_merge *merge, const char *path,
						  const struct tp_analysis_session_options *how,
						  struct tp_error *err);
/* Adds a recording, a digest or job file, or a folder of these. An unreadable source is reported on
 * stderr, counted, and named in the job file.
 * Errors  TP_ABSENT (no such file or source), TP_IO. */
TP_MUST_CHECK enum tp_status tp_digest_merge_add(struct tp_digest_merge *merge, const char *word,
						 struct tp_error *err);
/* Renames the file to its final name. */
TP_MUST_CHECK enum tp_status tp_digest_merge_finish(struct tp_digest_merge *merge,
						    struct tp_error *err);
/* Must be called last, in either case. */
void tp_digest_merge_close(struct tp_digest_merge *merge);

#endif
