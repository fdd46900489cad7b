/* SPDX-License-Identifier: Apache-2.0 */
/* A report as JSON: the text and the parsed document. */
#ifndef TRAINPROF_TESTS_UNIT_REPORT_JSONREPORT_H
#define TRAINPROF_TESTS_UNIT_REPORT_JSONREPORT_H

#include "trainprof/base/json.h"
#include "trainprof/report/report.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

/* Returns a heap string. */
static char *render(const struct tp_report *report, size_t *size)
{
	char *text = NULL;
	struct tp_report_style style = {.width = 80};
	FILE *out = open_memstream(&text, size);
	ck_assert_int_eq(tp_exporter_find("json")->write(report, &style, out, NULL), TP_OK);
	fclose(out);
	return text;
}

static struct tp_json_doc *parse(const char *text, size_t size)
{
	struct tp_json_doc *doc = NULL;
	struct tp_error err = {0};
	enum tp_status status = tp_json_parse(&doc, text, size, "report.json", &err);
	ck_assert_msg(status == TP_OK, "%s", err.text);
	return doc;
}

#endif
