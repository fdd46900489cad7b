/* SPDX-License-Identifier: Apache-2.0 */
/* Sums up what measuring the ranks of each host took. */
#ifndef TRAINPROF_SRC_ANALYZE_JOB_JOB_COST_H
#define TRAINPROF_SRC_ANALYZE_JOB_JOB_COST_H

#include "trainprof/model/job_result.h"

/* Sets the overhead of the job. */
void tp_job_find_cost(struct tp_job *job);

#endif
