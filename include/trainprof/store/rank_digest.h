/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Digests: what the report of a job needs of each rank, in frames of at most 2 KiB
 * (docs/digests.md). One file holds the ranks of one recording, or those of a whole job: a job file
 * is digests one after the other, each behind the name of its source.
 */
#ifndef TRAINPROF_STORE_RANK_DIGEST_H
#define TRAINPROF_STORE_RANK_DIGEST_H

#include "trainprof/base/buf.h"
#include "trainprof/base/status.h"
#include "trainprof/model/job_result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TP_DIGEST_NAME "digest.tpd" /* in a recording */

enum { TP_DIGEST_FRAME_MAX = 2048, TP_DIGEST_HEADER_SIZE = 16 };

/* Kinds of frames, four letters each as a little-endian number. Others are skipped. */
enum tp_digest_kind {
	TP_DIGEST_SOURCE = 0x45435253, /* "SRCE": its name, and how many bytes are of it */
	TP_DIGEST_RANK = 0x4b4e4152,   /* "RANK" */
	TP_DIGEST_ADVICE = 0x49564441, /* "ADVI": of the rank before */
	TP_DIGEST_STEPS = 0x50455453,  /* "STEP": a window of steps of the rank before */
	TP_DIGEST_END = 0x53444e45,    /* "ENDS": counts; nothing comes after it */
};

struct tp_digest_counts {
	uint64_t n_sources;
	uint64_t n_ranks;
	uint64_t n_unreadable; /* ranks of which there is nothing but why */
};

/* ---- writing ---- */

void tp_digest_put_header(struct tp_buf *out);
/* A rank, what its own report advises, and its steps. */
void tp_digest_put_rank(struct tp_buf *out, const struct tp_job_rank *rank,
			const struct tp_job_advice *advice, size_t n_advice);
void tp_digest_put_source(struct tp_buf *out, const char *name, uint64_t n_bytes);
void tp_digest_put_end(struct tp_buf *out, const struct tp_digest_counts *counts);

/* ---- reading ---- */

struct tp_digest_frame {
	uint32_t kind;
	const unsigned char *bytes; /* the whole frame, until the next is read */
	size_t size;
	const unsigned char *payload;
	size_t payload_size;
	uint64_t offset; /* in the file */
};

struct tp_digest_reader;

/* Whether a file begins as digests do; false also where there is none. */
bool tp_digest_is_one(const char *path);

/* Errors  TP_ABSENT, TP_DENIED, TP_IO, TP_PARSE (no digest), TP_VERSION (newer major). */
TP_MUST_CHECK enum tp_status tp_digest_open(struct tp_digest_reader **out, const char *path,
					    struct tp_error *err);
/* The next frame, checked; TP_DIGEST_END is the last. Errors  TP_PARSE: damaged or cut off. */
TP_MUST_CHECK enum tp_status tp_digest_next(struct tp_digest_reader *reader,
					    struct tp_digest_frame *out, struct tp_error *err);
/* Where that begins. */
uint64_t tp_digest_offset(const struct tp_digest_reader *reader);
void tp_digest_close(struct tp_digest_reader *reader); /* NULL is allowed */

/* Fields of frames. False: malformed. */
bool tp_digest_get_source(const struct tp_digest_frame *frame, char *name, size_t size,
			  uint64_t *n_bytes);
/* Of a rank's frame: whether more is known of it than why it cannot be read. */
bool tp_digest_is_readable(const struct tp_digest_frame *frame);

/*
 * Add all ranks of a file to a job; texts become the job's. `directory` (NULL: the names of
 * sources) is where they were recorded. Of jobs with very many ranks the last steps of each are
 * kept. `written_by`: NULL, or where it says another version nothing is added and the result is
 * TP_VERSION.
 *
 * Errors  as tp_digest_open() and tp_digest_next(); ranks that were whole before the damage stay.
 */
TP_MUST_CHECK enum tp_status tp_digest_load(struct tp_job *job, const char *path,
					    const char *directory, const char *written_by,
					    struct tp_error *err);
/* What the rank's own report advised, into the job. */
void tp_digest_load_advice(struct tp_job *job, const struct tp_job_rank *rank);

#endif
