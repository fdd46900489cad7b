/* SPDX-License-Identifier: Apache-2.0 */
/* The run as Trace Event JSON. Times are in microseconds with three decimals: whole ns. */
#include "formats.h"

#include "events.h"
#include "json_stream.h"

#include "trainprof/base/file.h"
#include "trainprof/base/version.h"

#include <inttypes.h>

struct chrome {
	FILE *out;
	bool is_next;
	int64_t pid; /* named last */
	int64_t order;
};

static void begin(struct chrome *c, char phase, int64_t pid)
{
	fprintf(c->out, "%s{\"ph\":\"%c\",\"pid\":%" PRId64, c->is_next ? ",\n" : "\n", phase, pid);
	c->is_next = true;
}

static void write_process(void *context, int64_t pid, const char *name)
{
	struct chrome *c = context;
	if (c->pid == pid)
		return;
	c->pid = pid;
	begin(c, 'M', pid);
	fputs(",\"name\":\"process_name\",\"args\":{\"name\":", c->out);
	tp_export_json_text(c->out, name);
	fputs("}}", c->out);
}

static void write_track(void *context, int64_t pid, int64_t tid, const char *name)
{
	struct chrome *c = context;
	begin(c, 'M', pid);
	fprintf(c->out, ",\"tid\":%" PRId64 ",\"name\":\"thread_name\",\"args\":{\"name\":", tid);
	tp_export_json_text(c->out, name);
	fputs("}}", c->out);
	begin(c, 'M', pid);
	fprintf(c->out,
		",\"tid\":%" PRId64
		",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%" PRId64 "}}",
		tid, ++c->order);
}

static void write_slice(void *context, const struct tp_export_slice *slice)
{
	struct chrome *c = context;
	fputs(c->is_next ? ",\n{\"ph\":\"X\"" : "\n{\"ph\":\"X\"", c->out);
	c->is_next = true;
	tp_export_json_key(c->out, "pid");
	tp_export_json_number(c->out, (uint64_t)slice->pid);
	tp_export_json_key(c->out, "tid");
	tp_export_json_number(c->out, (uint64_t)slice->tid);
	tp_export_json_key(c->out, "ts");
	tp_export_json_decimals(c->out, slice->start_ns);
	tp_export_json_key(c->out, "dur");
	tp_export_json_decimals(c->out, slice->end_ns - slice->start_ns);
	tp_export_json_member(c->out, "name", slice->name);
	tp_export_json_member(c->out, "cat", slice->category);
	for (size_t i = 0; i < slice->n_args; i++) {
		const struct tp_export_arg *arg = &slice->args[i];
		fputs(i ? ",\"" : ",\"args\":{\"", c->out);
		fputs(arg->key, c->out);
		fputs("\":", c->out);
		if (arg->text)
			tp_export_json_text(c->out, arg->text);
		else
			tp_export_json_number(c->out, arg->number);
	}
	fputs(slice->n_args ? "}}" : "}", c->out);
}

static void write_about(FILE *out, const struct tp_profile *profile)
{
	const struct tp_run_info *run = &profile->trace->run;
	fprintf(out, "],\n\"displayTimeUnit\":\"ms\",\"otherData\":{\"made_by\":\"trainprof %s\"",
		tp_version());
	tp_export_json_member(out, "run", run->id ? run->id : "");
	tp_export_json_member(out, "label", run->label ? run->label : "");
	for (int part = 0; part < TP_N_PARTS; part++)
		fprintf(out, ",\"%s_ns\":%" PRIu64, tp_part_name((enum tp_part)part),
			profile->parts[part].time_ns);
	fputs("}}\n", out);
}

static enum tp_status chrome_write(const struct tp_report *report, FILE *out, struct tp_error *err)
{
	struct chrome c = {.out = out, .pid = -1};
	const struct tp_export_event_sink sink = {.context = &c,
						  .process = write_process,
						  .track = write_track,
						  .slice = write_slice};
	fputs("{\"traceEvents\":[", out);
	tp_export_events_emit(report->profile, &sink);
	write_about(out, report->profile);
	return tp_file_check(out, "the export", err);
}

const struct tp_export_format tp_export_chrome = {
	.name = "chrome",
	.ending = "trace.json",
	.summary = "all threads and steps over time, JSON",
	.opens = "ui.perfetto.dev, chrome://tracing",
	.write = chrome_write,
};
