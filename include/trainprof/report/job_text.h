/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the report of a job of several ranks, for people and for programs. */
#ifndef TRAINPROF_REPORT_JOB_TEXT_H
#define TRAINPROF_REPORT_JOB_TEXT_H

#include "trainprof/base/json.h"
#include "trainprof/model/job_result.h"
#include "trainprof/report/page.h"

/* `shown` is the name that a reader types to see the job again: "prof". */
void tp_report_job_text(struct tp_page *page, const struct tp_job *job, const char *shown);
void tp_report_job_markdown(struct tp_buf *out, const struct tp_job *job);
/* trainprof-job/1.0: docs/job.schema.json */
void tp_report_job_json(struct tp_json_writer *w, const struct tp_job *job);

#endif
