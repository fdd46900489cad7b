/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks as a speedscope file: for each thread one profile of time on CPUs and one of time off
 * them. */
#include "formats.h"

#include "frame_table.h"
#include "json_stream.h"

#include "trainprof/base/file.h"
#include "trainprof/base/version.h"

#include <inttypes.h>

static const char schema[] = "https://www.speedscope.app/file-format-schema.json";

static void write_samples(FILE *out, struct tp_export_frames *table,
			  const struct tp_export_weight *weights, size_t n, bool is_off)
{
	bool is_next = false;
	for (size_t i = 0; i < n; i++) {
		if ((weights[i].state != TP_STATE_ON_CPU) != is_off)
			continue;
		tp_export_names_of(&table->names, &weights[i]);
		fputs(is_next ? ",\n[" : "\n[", out);
		is_next = true;
		for (size_t k = 0; k < table->names.n; k++)
			fprintf(out, "%s%" PRIu32, k ? "," : "", tp_export_frames_number(table, k));
		putc(']', out);
	}
}

static uint64_t sum_of(const struct tp_export_weight *weights, size_t n, bool is_off)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++)
		if ((weights[i].state != TP_STATE_ON_CPU) == is_off)
			sum += weights[i].time_ns;
	return sum;
}

static void write_profile(FILE *out, struct tp_export_frames *table,
			  const struct tp_export_weight *weights, size_t n, bool is_off,
			  size_t *n_profiles)
{
	uint64_t sum = sum_of(weights, n, is_off);
	struct tp_buf name = {0};
	if (!sum)
		return;
	tp_export_add_process(&name, table->names.profile, weights);
	tp_buf_puts(&name, ", ");
	tp_export_add_thread(&name, table->names.profile, weights);
	if (weights->task != TP_NO_TASK)
		tp_buf_puts(&name, is_off ? ", off CPU" : ", on CPU");
	fprintf(out, "%s{\"type\":\"sampled\"", *n_profiles ? ",\n" : "\n");
	tp_export_json_member(out, "name", tp_buf_text(&name));
	tp_buf_release(&name);
	(*n_profiles)++;
	fprintf(out, ",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":%" PRIu64, sum);
	fputs(",\"samples\":[", out);
	write_samples(out, table, weights, n, is_off);
	fputs("],\"weights\":[", out);
	bool has_one = false;
	for (size_t i = 0; i < n; i++) {
		if ((weights[i].state != TP_STATE_ON_CPU) != is_off)
			continue;
		fprintf(out, "%s%" PRIu64, has_one ? "," : "", weights[i].time_ns);
		has_one = true;
	}
	fputs("]}", out);
}

static void write_frames(FILE *out, const struct tp_export_frames *table)
{
	for (size_t i = 0; i < table->n; i++) {
		uint32_t line;
		const char *file = tp_export_frames_file(table, i, &line);
		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
		tp_export_json_text(out, tp_export_frames_name(table, i));
		if (file)
			tp_export_json_member(out, "file", file);
		if (line)
			fprintf(out, ",\"line\":%" PRIu32, line);
		putc('}', out);
	}
}

/* Returns the index of the first profile of the training thread, which is shown first. */
static size_t write_profiles(FILE *out, struct tp_export_frames *table,
			     const struct tp_export_weights *weights)
{
	size_t n_profiles = 0;
	size_t active = 0;
	for (size_t i = 0; i < weights->n;) {
		const struct tp_export_weight *first = &weights->items[i];
		size_t n = 1;
		while (i + n < weights->n && weights->items[i + n].task == first->task &&
		       weights->items[i + n].device == first->device)
			n++;
		if (first->task == table->names.profile->main_task && first->task != TP_NO_TASK)
			active = n_profiles;
		write_profile(out, table, first, n, false, &n_profiles);
		write_profile(out, table, first, n, true, &n_profiles);
		i += n;
	}
	return active;
}

static enum tp_status speedscope_write(const struct tp_report *report, FILE *out,
				       struct tp_error *err)
{
	struct tp_export_weights weights;
	struct tp_export_frames table;
	struct tp_buf exporter = {0};
	const char *label = report->profile->trace->run.label;
	size_t active = 0;
	tp_buf_printf(&exporter, "trainprof@%s", tp_version());
	tp_export_weights_build(&weights, report->profile, false);
	tp_export_frames_init(&table, report->profile);
	fprintf(out, "{\"$schema\":\"%s\"", schema);
	tp_export_json_member(out, "exporter", tp_buf_text(&exporter));
	tp_export_json_member(out, "name", label ? label : "");
	tp_buf_release(&exporter);
	fputs(",\"profiles\":[", out);
	active = write_profiles(out, &table, &weights);
	fputs("],\"shared\":{\"frames\":[", out);
	write_frames(out, &table);
	fputs("]}", out);
	/* A recording that was cut before its first thread has no profile to show. */
	if (weights.n)
		fprintf(out, ",\"activeProfileIndex\":%zu", active);
	fputs("}\n", out);
	tp_export_frames_release(&table);
	tp_export_weights_release(&weights);
	return tp_file_check(out, "the export", err);
}

const struct tp_export_format tp_export_speedscope = {
	.name = "speedscope",
	.ending = "speedscope.json",
	.summary = "stacks, on and off CPUs apart",
	.opens = "speedscope.app",
	.write = speedscope_write,
};
