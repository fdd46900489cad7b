/* SPDX-License-Identifier: Apache-2.0 */
/* What all forms of a job's report say alike. */
#ifndef TRAINPROF_SRC_REPORT_JOB_JOB_SENTENCES_H
#define TRAINPROF_SRC_REPORT_JOB_JOB_SENTENCES_H

#include "trainprof/base/buf.h"
#include "trainprof/model/job_result.h"

/* "RANK 2 IS LATE", "RANKS 0, 1 ARE LATE", "RANKS WAIT IN TURN". */
void tp_job_add_title(struct tp_buf *out, const struct tp_job *job);
/* "last in 195 of 195 steps, 10.1 ms after the next rank" */
void tp_job_add_sentence(struct tp_buf *out, const struct tp_job *job);
/* Says how a rank ended before the job did, or that one stands still; nothing where none does. */
void tp_job_add_ends(struct tp_buf *out, const struct tp_job *job);
/* What the late rank does meanwhile; nothing where that is not known. */
void tp_job_add_cause(struct tp_buf *out, const struct tp_job *job);
/* What the job gains without it; nothing where no rank is late. */
void tp_job_add_gain(struct tp_buf *out, const struct tp_job *job);
/* "4 ranks on 2 hosts, 195 steps, 21.3 steps/s" */
void tp_job_add_extent(struct tp_buf *out, const struct tp_job *job);
/* "rank 2", "pid 4711" where numbers are not known. */
void tp_job_add_rank(struct tp_buf *out, const struct tp_job_rank *rank);
/* "late.py:24 in load_batch()" */
void tp_job_add_code(struct tp_buf *out, const struct tp_job_code *code);
/* Everything that limits what was said, a line each: ranks that ended, are missing, or cannot be
 * read; how they were joined. */
void tp_job_add_notes(struct tp_buf *out, const struct tp_job *job);
/* What a rank does most: "loads data 10.2 ms". */
void tp_job_add_mostly(struct tp_buf *out, const struct tp_job_rank *rank);

#endif
