/* SPDX-License-Identifier: Apache-2.0 */
/* The report as one JSON document, for machines. */
#include "report/digest/exporters.h"

#include "document.h"
#include "trainprof/base/file.h"
#include "trainprof/base/version.h"

#include <string.h>

/* The largest document that trainprof's own parser accepts. */
enum { MAX_BYTES = TP_JSON_MAX_BYTES };

static void write_tool(struct tp_json_writer *w)
{
	tp_json_write_key(w, "tool");
	tp_json_open(w, '{');
	tp_json_put_string(w, "name", "trainprof");
	tp_json_put_string(w, "version", tp_version());
	tp_json_put_string(w, "commit", tp_commit());
	tp_json_close(w, '}');
}

static void write_truncated(struct tp_report_document *doc)
{
	struct tp_json_writer *w = doc->w;
	const struct {
		const char *key;
		size_t n;
	} rows[] = {{"stacks", doc->cut_stacks},           {"processes", doc->cut_processes},
		    {"outliers", doc->cut_outliers},       {"kernels", doc->cut_kernels},
		    {"collectives", doc->cut_collectives}, {"device_steps", doc->cut_device_steps}};
	tp_json_write_key(w, "truncated");
	tp_json_open(w, '{');
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].n)
			tp_json_put_uint(w, rows[i].key, rows[i].n);
	tp_json_close(w, '}');
}

static void write_document(struct tp_report_document *doc)
{
	static void (*const sections[])(struct tp_report_document *) = {
		tp_report_json_run,        tp_report_json_environment,
		tp_report_json_collection, tp_report_json_summary,
		tp_report_json_partition,  tp_report_json_phases,
		tp_report_json_steps,      tp_report_json_processes,
		tp_report_json_workers,    tp_report_json_functions,
		tp_report_json_gpus,       tp_report_json_stacks,
		tp_report_json_job,        tp_report_json_devices,
		tp_report_json_kernels,    tp_report_json_collectives,
		tp_report_json_blame,      tp_report_json_findings,
		tp_report_json_without,    write_truncated,
		tp_report_json_warnings,
	};
	struct tp_json_writer *w = doc->w;
	tp_json_open(w, '{');
	tp_json_put_string(w, "schema", TP_REPORT_SCHEMA);
	write_tool(w);
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		sections[i](doc);
	tp_json_close(w, '}');
}

static enum tp_status json_write(const struct tp_report *report,
				 const struct tp_report_style *style, FILE *out,
				 struct tp_error *err)
{
	(void)style;
	if (!tp_profile_is_exact(report->profile))
		return tp_fail(err, TP_PARSE,
			       "internal error: the parts do not sum to the measured time");
	struct tp_report_digest digest;
	tp_report_digest_make(&digest, report);
	struct tp_json_writer w = {0};
	/* The limits of long series and stacks are halved until the document fits. */
	for (size_t shift = 0; shift < 8; shift++) {
		struct tp_report_document doc = {
			.w = &w,
			.digest = &digest,
			.max_series = 2000U >> shift,
			.max_stacks = 200U >> shift,
			.max_processes = 2000U >> shift,
			.max_outliers = 50U >> shift,
			.max_kernels = 100U >> shift,
			.max_collectives = 200U >> shift,
		};
		tp_json_writer_release(&w);
		write_document(&doc);
		if (w.out.len <= MAX_BYTES)
			break;
	}
	fwrite(tp_buf_text(&w.out), 1, w.out.len, out);
	tp_json_writer_release(&w);
	return tp_file_check(out, "the report", err);
}

const struct tp_exporter tp_report_json = {
	.name = "json",
	.summary = "for machines: " TP_REPORT_SCHEMA " (report --schema)",
	.write = json_write,
};
