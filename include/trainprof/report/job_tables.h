/* SPDX-License-Identifier: Apache-2.0 */
/* The digests of a job as tables in Parquet files (docs/job-tables.md). */
#ifndef TRAINPROF_REPORT_JOB_TABLES_H
#define TRAINPROF_REPORT_JOB_TABLES_H

#include "trainprof/base/status.h"
#include "trainprof/model/job_result.h"

#include <stdio.h>

struct tp_job_table {
	const char *file; /* "ranks.parquet" */
	enum tp_status (*write)(const struct tp_job *job, FILE *out, struct tp_error *err);
};

enum { TP_N_JOB_TABLES = 4 };

extern const struct tp_job_table tp_job_tables[TP_N_JOB_TABLES];

#endif
