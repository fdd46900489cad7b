/* SPDX-License-Identifier: Apache-2.0 */
/* Finds ranks that are missing, ended before the job, or hang. */
#ifndef TRAINPROF_SRC_ANALYZE_JOB_JOB_ENDS_H
#define TRAINPROF_SRC_ANALYZE_JOB_JOB_ENDS_H

#include "trainprof/model/job_result.h"

/* Sorts ranks by number; of two recordings of a rank the one that started last counts. Sets the
 * number of ranks, and which are missing. */
void tp_job_count_ranks(struct tp_job *job);

/* Sets `ended`, `hanging` and related members. */
void tp_job_find_ends(struct tp_job *job);

#endif
