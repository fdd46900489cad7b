/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the activity of the late rank that the others do not have. */
#ifndef TRAINPROF_SRC_ANALYZE_JOB_JOB_CAUSE_H
#define TRAINPROF_SRC_ANALYZE_JOB_JOB_CAUSE_H

#include "trainprof/model/job_result.h"

/* Sets late_label, late_code and related members, in comparison with the ranks that are not
 * late. */
void tp_job_find_cause(struct tp_job *job);

#endif
