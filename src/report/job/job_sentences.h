/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences that all formats of a job's report share. */
#ifndef TRAINPROF_SRC_REPORT_JOB_JOB_SENTENCES_H
#define TRAINPROF_SRC_REPORT_JOB_JOB_SENTENCES_H

#include "trainprof/base/buf.h"
#include "trainprof/model/job_result.h"

/* "RANK 2 IS LATE", "RANKS 0, 1 ARE LATE", "RANKS WAIT IN TURN". */
void tp_job_add_title(struct tp_buf *out, const struct tp_job *job);
/* "last in 195 of 195 steps; it takes 10.1 ms longer than the next rank" */
void tp_job_add_sentence(struct tp_buf *out, const struct tp_job *job);
/* Append how a rank ended before the job did, or that a rank makes no progress; nothing if neither
 * is the case. */
void tp_job_add_ends(struct tp_buf *out, const struct tp_job *job);
/* Append what the late rank does meanwhile; nothing if that is not known. */
void tp_job_add_cause(struct tp_buf *out, const struct tp_job *job);
/* Append the gain of the job without the late rank; nothing if no rank is late. */
void tp_job_add_gain(struct tp_buf *out, const struct tp_job *job);
/* "4 ranks on 2 hosts, 195 steps, 21.3 steps/s" */
void tp_job_add_extent(struct tp_buf *out, const struct tp_job *job);
/* "rank 2", or "pid 4711" if numbers are not known. */
void tp_job_add_rank(struct tp_buf *out, const struct tp_job_rank *rank);
/* "late.py:24 in load_batch()" */
void tp_job_add_code(struct tp_buf *out, const struct tp_job_code *code);
/* Append everything that limits these statements, one per line: ranks that ended, are missing, or
 * cannot be read; how they were joined. */
void tp_job_add_notes(struct tp_buf *out, const struct tp_job *job);
/* Append the main activity of a rank: "loads data 10.2 ms". */
void tp_job_add_mostly(struct tp_buf *out, const struct tp_job_rank *rank);

#endif
