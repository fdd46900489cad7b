/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run in the formats that other programs open: flame graphs, trace viewers, monitoring,
 * spreadsheets, experiment trackers. docs/exports.md describes the contents of each.
 *
 * All formats keep these promises:
 * - Times are whole ns, or as exact as the format allows.
 * - The time of a part adds up to that of the report: over the steady steps, or over the judged
 *   window of a run without steps.
 * - Time on a CPU and time off it can be distinguished.
 * - Unknown values are left out or named unknown, and never 0.
 * - Names from programs and traces cannot break the format.
 */
#ifndef TRAINPROF_REPORT_EXPORT_H
#define TRAINPROF_REPORT_EXPORT_H

#include "trainprof/report/report.h"

struct tp_export_format {
	const char *name;    /* "pprof" */
	const char *ending;  /* file name extension: "pb.gz" */
	const char *summary; /* "stacks; protobuf in gzip" */
	const char *opens;   /* programs that read it: "go tool pprof, Grafana" */
	bool is_binary;      /* must not be written to a terminal */
	/* Writes while it traverses the run. Errors  TP_IO if the stream failed. */
	enum tp_status (*write)(const struct tp_report *report, FILE *out, struct tp_error *err);
};

/* NULL if unknown. */
const struct tp_export_format *tp_export_find(const char *name);
/* NULL-terminated, in the order of help. */
const struct tp_export_format *const *tp_export_list(void);

#endif
