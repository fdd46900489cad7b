/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of comma-separated values (RFC 4180) for spreadsheets and data frames. */
#include "formats.h"

#include "stack_names.h"

#include "trainprof/base/file.h"
#include "trainprof/base/text.h"
#include "trainprof/model/fact.h"

#include <inttypes.h>

/* Writes a field in quotes. One that begins like a formula gets an apostrophe: spreadsheets would
 * evaluate the content of a hostile name. */
static void write_field(FILE *out, const char *text)
{
	struct tp_buf safe = {0};
	tp_text_add_safe(&safe, text);
	const char *p = tp_buf_text(&safe);
	putc('"', out);
	if (*p == '=' || *p == '+' || *p == '-' || *p == '@')
		putc('\'', out);
	for (; *p; p++) {
		if (*p == '"')
			putc('"', out);
		putc(*p, out);
	}
	putc('"', out);
	tp_buf_release(&safe);
}

/* ---- parts --------------------------------------------------------------------------------- */

static enum tp_status parts_write(const struct tp_report *report, FILE *out, struct tp_error *err)
{
	const struct tp_profile *profile = report->profile;
	fputs("part,time_ns,hidden_ns,solo_ns,share_ratio,share_low_ratio,share_high_ratio\r\n",
	      out);
	for (int i = 0; i < TP_N_PARTS && profile->total_ns; i++) {
		const struct tp_part_result *part = &profile->parts[i];
		fprintf(out, "%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",",
			tp_part_name((enum tp_part)i), part->time_ns, part->hidden_ns,
			part->solo_ns);
		if (part->share.is_known)
			fprintf(out, "%.9g", part->share.value);
		if (part->share.is_known && part->share.has_interval)
			fprintf(out, ",%.9g,%.9g\r\n", part->share.low, part->share.high);
		else
			fputs(",,\r\n", out);
	}
	return tp_file_check(out, "the export", err);
}

/* ---- steps --------------------------------------------------------------------------------- */

static enum tp_status steps_write(const struct tp_report *report, FILE *out, struct tp_error *err)
{
	const struct tp_profile *profile = report->profile;
	fputs("step,kind,start_ns,end_ns", out);
	for (int part = 0; part < TP_N_PARTS; part++)
		fprintf(out, ",%s_ns", tp_part_name((enum tp_part)part));
	fputs("\r\n", out);
	for (size_t i = 0; i < profile->n_steps; i++) {
		const struct tp_step *step = &profile->steps[i];
		fprintf(out, "%zu,%s,%" PRIu64 ",%" PRIu64, i + 1, tp_step_kind_name(step->kind),
			step->start_ns, step->end_ns);
		for (int part = 0; part < TP_N_PARTS; part++)
			fprintf(out, ",%" PRIu64, step->part_ns[part]);
		fputs("\r\n", out);
	}
	return tp_file_check(out, "the export", err);
}

/* ---- stacks -------------------------------------------------------------------------------- */

static void write_stack(FILE *out, struct tp_export_names *names,
			const struct tp_export_weight *weight)
{
	struct tp_buf text = {0};
	tp_export_names_of(names, weight);
	tp_export_add_process(&text, names->profile, weight);
	write_field(out, tp_buf_text(&text));
	putc(',', out);
	tp_buf_clear(&text);
	tp_export_add_thread(&text, names->profile, weight);
	write_field(out, tp_buf_text(&text));
	tp_buf_clear(&text);
	fprintf(out, ",%s,%s,%s,%s,%" PRIu64 ",",
		weight->part != TP_N_PARTS ? tp_part_name(weight->part) : "",
		weight->label != TP_N_LABELS ? tp_label_name(weight->label) : "",
		tp_export_state(weight),
		weight->cause != TP_CAUSE_NONE ? tp_cause_name(weight->cause) : "",
		weight->time_ns);
	for (size_t k = names->n_around; k < names->n; k++)
		tp_buf_printf(&text, "%s%s", k > names->n_around ? ";" : "",
			      tp_export_names_text(names, names->ids[k]));
	write_field(out, tp_buf_text(&text));
	fputs("\r\n", out);
	tp_buf_release(&text);
}

static enum tp_status stacks_write(const struct tp_report *report, FILE *out, struct tp_error *err)
{
	struct tp_export_weights weights;
	struct tp_export_names names;
	tp_export_weights_build(&weights, report->profile, false);
	tp_export_names_init(&names, report->profile);
	fputs("process,thread,part,label,state,waits_for,time_ns,stack\r\n", out);
	for (size_t i = 0; i < weights.n; i++)
		write_stack(out, &names, &weights.items[i]);
	tp_export_names_release(&names);
	tp_export_weights_release(&weights);
	return tp_file_check(out, "the export", err);
}

/* ---- facts --------------------------------------------------------------------------------- */

static enum tp_status facts_write(const struct tp_report *report, FILE *out, struct tp_error *err)
{
	fputs("fact,unit,value,low,high,origin,missing\r\n", out);
	for (tp_fact_id fact = 0; fact < tp_n_facts; fact++) {
		const struct tp_quantity *known = &report->profile->facts[fact];
		const struct tp_fact_desc *desc = tp_fact_desc(fact);
		fprintf(out, "%s,%s,", desc->name, desc->unit);
		if (known->is_known)
			fprintf(out, "%.12g", known->value);
		if (known->is_known && known->has_interval)
			fprintf(out, ",%.12g,%.12g", known->low, known->high);
		else
			fputs(",,", out);
		fprintf(out, ",%s,", known->is_known ? tp_origin_name(known->origin) : "");
		if (!known->is_known)
			write_field(out, known->missing ? known->missing : "not measured");
		fputs("\r\n", out);
	}
	return tp_file_check(out, "the export", err);
}

const struct tp_export_format tp_export_csv_parts = {
	.name = "csv",
	.ending = "csv",
	.summary = "a table of the parts",
	.opens = "spreadsheets, pandas",
	.write = parts_write,
};

const struct tp_export_format tp_export_csv_steps = {
	.name = "csv-steps",
	.ending = "csv",
	.summary = "a table of all steps",
	.opens = "spreadsheets, pandas",
	.write = steps_write,
};

const struct tp_export_format tp_export_csv_stacks = {
	.name = "csv-stacks",
	.ending = "csv",
	.summary = "a table of stacks",
	.opens = "spreadsheets, pandas",
	.write = stacks_write,
};

const struct tp_export_format tp_export_csv_facts = {
	.name = "csv-facts",
	.ending = "csv",
	.summary = "a table of all facts",
	.opens = "spreadsheets, pandas",
	.write = facts_write,
};
