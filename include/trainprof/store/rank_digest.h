/* SPDX-License-Identifier: Apache-2.0 */
/* Digests: the data of each rank that a job's report needs, in frames of at most 2 KiB
 * (docs/digests.md). One file has the ranks of one recording, or those of a whole job: a job file
 * is a sequence of digests, each after the name of its source. */
#ifndef TRAINPROF_STORE_RANK_DIGEST_H
#define TRAINPROF_STORE_RANK_DIGEST_H

#include "trainprof/base/buf.h"
#include "trainprof/base/status.h"
#include "trainprof/model/job_result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TP_DIGEST_NAME "digest.tpd" /* file name in a recording */

enum { TP_DIGEST_FRAME_MAX = 2048, TP_DIGEST_HEADER_SIZE = 16 };

/* Kinds of frames, four letters each as a little-endian number. Unknown kinds are skipped. */
enum tp_digest_kind {
	TP_DIGEST_SOURCE = 0x45435253, /* "SRCE": name of the source, and the size of its digest */
	TP_DIGEST_RANK = 0x4b4e4152,   /* "RANK" */
	TP_DIGEST_ADVICE = 0x49564441, /* "ADVI": advice for the preceding rank */
	TP_DIGEST_STEPS = 0x50455453,  /* "STEP": some steps of the preceding rank */
	TP_DIGEST_END = 0x53444e45,    /* "ENDS": counts; the last frame */
};

struct tp_digest_counts {
	uint64_t n_sources;
	uint64_t n_ranks;
	uint64_t n_unreadable; /* ranks for which only the reason is known */
};

/* ---- writing ---- */

void tp_digest_put_header(struct tp_buf *out);
/* Writes a rank, the advice of its own report, and its steps. */
void tp_digest_put_rank(struct tp_buf *out, const struct tp_job_rank *rank,
			const struct tp_job_advice *advice, size_t n_advice);
void tp_digest_put_source(struct tp_buf *out, const char *name, uint64_t n_bytes);
void tp_digest_put_end(struct tp_buf *out, const struct tp_digest_counts *counts);

/* ---- reading ---- */

struct tp_digest_frame {
	uint32_t kind;
	const unsigned char *bytes; /* the whole frame; valid until the next is read */
	size_t size;
	const unsigned char *payload;
	size_t payload_size;
	uint64_t offset; /* offset in the file */
};

struct tp_digest_reader;

/* Returns true if a file begins like a digest; false also if there is no file. */
bool tp_digest_is_one(const char *path);

/* Errors  TP_ABSENT, TP_DENIED, TP_IO, TP_PARSE (no digest), TP_VERSION (newer major). */
TP_MUST_CHECK enum tp_status tp_digest_open(struct tp_digest_reader **out, const char *path,
					    struct tp_error *err);
/* Reads and checks the next frame; TP_DIGEST_END is the last. Errors  TP_PARSE: damaged or
 * truncated. */
TP_MUST_CHECK enum tp_status tp_digest_next(struct tp_digest_reader *reader,
					    struct tp_digest_frame *out, struct tp_error *err);
/* Returns the file offset of the next frame. */
uint64_t tp_digest_offset(const struct tp_digest_reader *reader);
void tp_digest_close(struct tp_digest_reader *reader); /* NULL is allowed */

/* Reads the fields of a frame. Returns false if it is malformed. */
bool tp_digest_get_source(const struct tp_digest_frame *frame, char *name, size_t size,
			  uint64_t *n_bytes);
/* Returns true if a rank's frame has data of the rank, not only the reason why the rank is
 * unreadable. */
bool tp_digest_is_readable(const struct tp_digest_frame *frame);

/*
 * Adds all ranks of a file to a job; texts are copied into the job. `directory` (NULL: the names of
 * the sources) is where they were recorded. In jobs with very many ranks only the last steps of
 * each are kept. `written_by`: if not NULL and the file was written by another version, nothing is
 * added and the result is TP_VERSION.
 *
 * Errors  as tp_digest_open() and tp_digest_next(); ranks that were complete before the damage are
 * kept.
 */
TP_MUST_CHECK enum tp_status tp_digest_load(struct tp_job *job, const char *path,
					    const char *directory, const char *written_by,
					    struct tp_error *err);
/* Adds the advice of the rank's own report to the job. */
void tp_digest_load_advice(struct tp_job *job, const struct tp_job_rank *rank);

#endif
