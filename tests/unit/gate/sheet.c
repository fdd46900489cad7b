/* SPDX-License-Identifier: Apache-2.0 */
/* Writes hand-made reports. */
#include "sheet.h"

#include <check.h>
#include <stdio.h>

static const char * or (const char *text, const char *otherwise)
{
	return text ? text : otherwise;
}

static void add_partition(struct tp_buf *out, const struct sheet *sheet)
{
	double loader = sheet->dataloader;
	tp_buf_printf(
		out,
		"\"partition\": {\"of\": \"step\", \"total_ns\": 1000000, \"parts\": ["
		"{\"id\": \"compute\", \"time_ns\": %.0f, \"share_ratio\": {\"value\": %g}},"
		"{\"id\": \"dataloader\", \"time_ns\": %.0f, \"share_ratio\": {\"value\": %g}}],"
		"\"lines\": [%s]}",
		1e6 * (1 - loader), 1 - loader, 1e6 * loader, loader, or (sheet->lines, ""));
}

enum tp_status sheet_read(struct tp_run_values *out, const struct sheet *sheet, const char *name,
			  struct tp_arena *arena, struct tp_error *err)
{
	struct tp_buf text = {0};
	struct tp_json_doc *doc = NULL;
	char step[32] = "null";
	if (sheet->step_ns != 0)
		snprintf(step, sizeof(step), "%g", sheet->step_ns);
	tp_buf_printf(
		&text,
		"{\"schema\": \"%s\", \"run\": {\"label\": \"train\", \"mode\": \"run\","
		"\"command\": [\"%s\"], \"end\": {\"kind\": \"exited\", \"code\": %d}},"
		"\"environment\": {\"host\": {\"cpu_model\": \"%s\", \"allowed_cores\": 4}},"
		"\"summary\": {\"title\": \"T\", \"metrics\": {"
		"\"step.time_ns\": {\"value\": %s}, \"step.dataloader_ratio\": {\"value\": %g}%s"
		"}, \"missing\": [%s]}, \"steps\": {\"count\": 100}, ",
		or (sheet->schema, "trainprof-report/1.0"), or (sheet->command, "./train"),
		sheet->exit_code, or (sheet->cpu, "Fast CPU"), step, sheet->dataloader,
		or (sheet->metrics, ""), or (sheet->missing, ""));
	add_partition(&text, sheet);
	tp_buf_printf(&text, ", \"findings\": [%s], \"functions\": [%s]}", or (sheet->findings, ""),
		      or (sheet->functions, ""));
	enum tp_status status = tp_json_parse(&doc, text.data, text.len, name, err);
	if (status == TP_OK)
		status = tp_run_values_read(out, doc, name, arena, err);
	tp_json_free(doc);
	tp_buf_release(&text);
	return status;
}

const struct tp_run_values *sheet_run(const struct sheet *sheet, const char *name,
				      struct tp_arena *arena)
{
	struct tp_run_values *out = tp_arena_alloc(arena, sizeof(*out));
	struct tp_error err = {0};
	ck_assert_msg(sheet_read(out, sheet, name, arena, &err) == TP_OK, "%s", err.text);
	return out;
}
