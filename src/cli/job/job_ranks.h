/* SPDX-License-Identifier: Apache-2.0 */
/* Adds ranks to a job from their recordings, and writes digests. */
#ifndef TRAINPROF_SRC_CLI_JOB_JOB_RANKS_H
#define TRAINPROF_SRC_CLI_JOB_JOB_RANKS_H

#include "cli/session/analysis_session.h"
#include "cli/session/job_folder.h"
#include "trainprof/model/job_result.h"

/* Analyses a recording and adds its rank, or the ranks in it; an unreadable one is added with the
 * reason. `patterns` is borrowed. */
void tp_job_ranks_add(struct tp_job *job, const struct tp_job_member *member,
		      const struct tp_patterns *patterns,
		      const struct tp_analysis_session_options *options);
/* Adds a rank of which only the reason of the failure is known. */
void tp_job_ranks_add_failed(struct tp_job *job, const char *directory, const char *why);

/* Selects from a rank's findings the first TP_JOB_ADVICE_MAX pieces of advice that help the late
 * rank of a job; returns their number. */
size_t tp_job_ranks_advice(struct tp_job_advice out[TP_JOB_ADVICE_MAX],
			   const struct tp_findings *findings);

/* Writes digest.tpd into a recording that was read.
 * Errors  TP_IO. */
TP_MUST_CHECK enum tp_status
tp_job_ranks_save_digest(const struct tp_analysis_session *reading,
			 const struct tp_analysis_session_options *options, struct tp_error *err);

#endif
