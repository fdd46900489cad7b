/* SPDX-License-Identifier: Apache-2.0 */
/* The content of a report and how it is written: one structure, several exporters. */
#ifndef TRAINPROF_REPORT_REPORT_H
#define TRAINPROF_REPORT_REPORT_H

#include "trainprof/base/status.h"
#include "trainprof/model/finding.h"
#include "trainprof/model/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Schema id in report.json; any 1.x can be read. docs/report.schema.json. */
#define TP_REPORT_SCHEMA "trainprof-report/1.1"

/* All borrowed. */
struct tp_report {
	const struct tp_profile *profile;
	const struct tp_findings *findings; /* NULL if no rules could be applied */
	const char *no_findings_because;    /* one line, or NULL; only without findings */
	const char *directory;              /* of the recording, as the user can type it */
	const char *exit_note;              /* appended to the program's end, or NULL */
	bool is_last;      /* commands typed in this directory find it without its name */
	bool can_view;     /* the reader's terminal can show trainprof view */
	bool is_after_run; /* the printing command ends with the program's exit status */
};

struct tp_report_style {
	unsigned width; /* columns, >= 40 */
	bool has_colour;
	bool is_ascii;
	bool is_full;        /* the full report instead of the summary */
	const char *section; /* only this section of the full report; NULL */
};

struct tp_exporter {
	const char *name; /* "text", "json", "markdown" */
	const char *summary;
	/* Errors  TP_IO if the stream failed. */
	enum tp_status (*write)(const struct tp_report *report, const struct tp_report_style *style,
				FILE *out, struct tp_error *err);
};

/* NULL if unknown. */
const struct tp_exporter *tp_exporter_find(const char *name);
/* All exporters, NULL-terminated. */
const struct tp_exporter *const *tp_exporter_list(void);

/* Names of sections of the full text, NULL-terminated: "parts", "steps". */
extern const char *const tp_report_sections[];

/* The JSON Schema of the json exporter, as text. Static storage. */
const char *tp_report_schema(void);

#endif
