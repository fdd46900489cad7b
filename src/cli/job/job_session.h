/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the report of a job from the recordings of its ranks. */
#ifndef TRAINPROF_SRC_CLI_JOB_JOB_SESSION_H
#define TRAINPROF_SRC_CLI_JOB_JOB_SESSION_H

#include "cli/session/analysis_session.h"
#include "trainprof/base/json.h"
#include "trainprof/model/job_result.h"

/* Reads the ranks in these folders and recordings, one after the other, and joins them. If there
 * are several jobs, the one that started last is read, or the one with this id (NULL = no id
 * requested). An unreadable recording is left out and named in the job.
 * Errors  TP_ABSENT (no recording, no such job), TP_IO; TP_PARSE for patterns. */
TP_MUST_CHECK enum tp_status tp_job_session_read(struct tp_job *job, const char *const *words,
						 size_t n_words, const char *id,
						 const struct tp_analysis_session_options *options,
						 struct tp_error *err);

/* Writes the job in a format ("text", "json", "markdown") into a text; `shown` as in
 * tp_report_job_text(). */
void tp_job_session_render(struct tp_buf *out, const struct tp_job *job, const char *format,
			   const struct tp_report_style *style, const char *shown);

#endif
