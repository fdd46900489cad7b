/* SPDX-License-Identifier: Apache-2.0 */
/* What the late rank does that the others do not. */
#ifndef TRAINPROF_SRC_ANALYZE_JOB_JOB_CAUSE_H
#define TRAINPROF_SRC_ANALYZE_JOB_JOB_CAUSE_H

#include "trainprof/model/job_result.h"

/* Sets late_label, late_code and what belongs to them, against the ranks that are not late. */
void tp_job_find_cause(struct tp_job *job);

#endif
