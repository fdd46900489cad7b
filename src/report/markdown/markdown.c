/* SPDX-License-Identifier: Apache-2.0 */
/* The report as Markdown for pull requests, step summaries and tickets. */
#include "report/digest/exporters.h"
#include "report/digest/markdown_escape.h"

#include "markdown_devices.h"
#include "report/digest/digest.h"
#include "report/digest/gain_text.h"
#include "report/digest/job_notes.h"
#include "report/digest/source_lines.h"
#include "report/digest/step_counts.h"
#include "report/digest/verdict.h"
#include "report/digest/work_lines.h"
#include "report/text/gpu_table.h"
#include "trainprof/base/file.h"
#include "trainprof/base/text.h"
#include "trainprof/base/version.h"

static void add_verdict(struct tp_buf *out, const struct tp_report_digest *digest)
{
	struct tp_buf sentence = {0};
	tp_report_add_verdict(&sentence, digest->report);
	tp_buf_puts(out, "### ");
	tp_markdown_add_plain(out, tp_report_verdict_title(digest->report));
	tp_buf_puts(out, "\n\n");
	tp_markdown_add_plain(out, tp_buf_text(&sentence));
	tp_buf_release(&sentence);
	tp_buf_puts(out, "\n\n`");
	struct tp_buf command = {0};
	struct tp_buf safe = {0};
	tp_report_add_subject(&command, digest);
	tp_text_add_safe(&safe, tp_buf_text(&command));
	/* A code span has no escapes: only its own quote character must be replaced. */
	for (const char *p = tp_buf_text(&safe); *p; p++)
		tp_buf_putc(out, (char)(*p == '`' || *p == '\n' ? '\'' : *p));
	tp_buf_release(&safe);
	tp_buf_release(&command);
	tp_buf_puts(out, "`: ");
	tp_report_add_extent(out, digest, TP_EXTENT_ALL);
	if (digest->profile->step_time.n)
		tp_buf_printf(out, "; step mean %s, p95 %s",
			      tp_unit_time(digest->profile->step_time.mean).text,
			      tp_unit_time(digest->profile->step_time.p95).text);
	if (digest->profile->n_steps) {
		tp_buf_puts(out, ". ");
		tp_report_add_step_counts(out, digest->profile);
	}
	tp_buf_puts(out, "\n\n");
}

static void add_parts(struct tp_buf *out, const struct tp_report_digest *digest)
{
	if (!digest->is_judgeable && !digest->is_hang)
		return;
	tp_buf_printf(
		out,
		"| part | per %s | share | 95 %% | hidden |\n| --- | ---: | ---: | ---: | ---: |\n",
		digest->profile->is_of_steps ? "step" : "window");
	for (size_t i = 0; i < digest->n_shown; i++) {
		enum tp_part id = digest->order[i];
		const struct tp_part_result *part = &digest->profile->parts[id];
		tp_buf_printf(out, "| %s | %s | ", tp_profile_part_name(digest->profile, id),
			      tp_unit_scaled(digest->scale, (double)part->time_ns / digest->divisor)
				      .text);
		/* A part that exists is not shown as 0 %. */
		if (digest->percent[id])
			tp_buf_printf(out, "%u %% | ", digest->percent[id]);
		else
			tp_buf_puts(out, "&lt;1 % | ");
		if (part->share.has_interval)
			tp_buf_puts(out, tp_unit_interval(part->share.value, part->share.low,
							  part->share.high)
						 .text);
		tp_buf_printf(out, " | %s |\n",
			      tp_unit_scaled(digest->scale,
					     (double)part->hidden_ns / digest->divisor)
				      .text);
	}
	tp_buf_putc(out, '\n');
}

/* Adds a gain that others reported next to our bound: from the first technique that has one. */
static void add_reported(struct tp_buf *out, const struct tp_finding *finding)
{
	for (size_t i = 0; i < finding->n_actions; i++) {
		const struct tp_references *literature = finding->actions[i].literature;
		if (!literature || !literature->n_reported)
			continue;
		const struct tp_reported_result *reported = &literature->reported[0];
		tp_buf_puts(out, "  \n   others: ");
		tp_markdown_add_plain(out, reported->text);
		bool ends = out->data[out->len - 1] == '.';
		tp_buf_puts(out, ends ? " Hardware: " : ". Hardware: ");
		tp_markdown_add_plain(out, reported->hardware);
		tp_buf_puts(out, "; against ");
		tp_markdown_add_plain(out, reported->baseline);
		tp_buf_puts(out, " (");
		tp_markdown_add_plain(out, reported->source.title);
		tp_buf_puts(out, ")");
		return;
	}
}

/* Adds the yardstick of a technique that needs fewer iterations: a training that is just
 * shorter. */
static void add_yardstick(struct tp_buf *out, const struct tp_finding *finding)
{
	const struct tp_references *literature =
		finding->n_actions ? finding->actions[0].literature : NULL;
	const struct tp_yardstick *yardstick = literature ? literature->against : NULL;
	if (!yardstick)
		return;
	tp_buf_printf(out, "  \n   against `%s`: ", yardstick->technique);
	tp_markdown_add_plain(out, yardstick->title);
	for (size_t i = 0; i < yardstick->n_reported; i++) {
		tp_buf_puts(out, i ? " " : ". ");
		tp_markdown_add_plain(out, yardstick->reported[i].text);
		tp_buf_puts(out, " (");
		tp_markdown_add_plain(out, yardstick->reported[i].source.title);
		tp_buf_puts(out, ")");
	}
}

static void add_effort(struct tp_buf *out, const struct tp_finding *finding)
{
	const struct tp_references *literature =
		finding->n_actions ? finding->actions[0].literature : NULL;
	if (!literature)
		return;
	tp_buf_printf(out, "  \n   technique `%s`: %s, risk to the model %s (",
		      finding->actions[0].technique, literature->effort_text, literature->risk);
	tp_markdown_add_plain(out, literature->risk_text);
	tp_buf_putc(out, ')');
}

static void add_advice(struct tp_buf *out, const struct tp_finding *finding, size_t number)
{
	tp_buf_printf(out, "%zu. **", number);
	tp_markdown_add_plain(out, finding->headline ? finding->headline : finding->title);
	tp_buf_puts(out, "** — ");
	if (finding->has_gain) {
		tp_report_add_gain(out, finding->gain_low, finding->gain_value, finding->gain_high);
		tp_buf_puts(out, ", ");
	}
	tp_buf_printf(out, "%s  \n   ", tp_sureness_name(finding->sureness));
	if (finding->because)
		tp_markdown_add_plain(out, finding->because);
	tp_buf_printf(out, "  \n   rule `%s`", finding->rule);
	if (finding->kind == TP_ADVICE_SEMANTIC) {
		tp_buf_puts(out, "; changes the training: ");
		tp_markdown_add_plain(out, finding->price ? finding->price
							  : "check the model's quality");
	}
	if (finding->verify) {
		tp_buf_puts(out, "; afterwards: ");
		tp_markdown_add_plain(out, finding->verify);
	}
	add_effort(out, finding);
	add_reported(out, finding);
	add_yardstick(out, finding);
	tp_buf_putc(out, '\n');
}

static void add_advices(struct tp_buf *out, const struct tp_report_digest *digest)
{
	size_t n = tp_report_n_advice(digest->report);
	for (size_t i = 0; i < n; i++)
		add_advice(out, &digest->report->findings->items[i], i + 1);
	if (n)
		tp_buf_putc(out, '\n');
	else if (digest->report->findings && digest->is_judgeable &&
		 !tp_report_is_start_up(digest->report->findings))
		tp_buf_puts(out, "No advice would gain enough to be worth the work.\n\n");
}

static void add_paragraph(struct tp_buf *out, struct tp_buf *text)
{
	if (text->len) {
		tp_markdown_add_plain(out, tp_buf_text(text));
		tp_buf_puts(out, "\n\n");
	}
	tp_buf_clear(text);
}

static void add_top_line(struct tp_buf *out, const struct tp_report_digest *digest)
{
	struct tp_buf text = {0};
	tp_report_add_unknown_cause(&text, digest, 0);
	if (!text.len && digest->is_judgeable)
		tp_report_add_top_lines(&text, digest, 0);
	add_paragraph(out, &text);
	tp_report_add_loading_work(&text, digest, 0);
	add_paragraph(out, &text);
	tp_buf_release(&text);
}

static void add_notes(struct tp_buf *out, const struct tp_report_digest *digest)
{
	bool has_any = false;
	for (int i = 0; i < TP_JOB_NOTES_MAX; i++) {
		struct tp_buf text = {0};
		tp_report_add_job_note(&text, digest, i);
		if (text.len) {
			tp_markdown_add_plain(out, tp_buf_text(&text));
			tp_buf_puts(out, "  \n");
			has_any = true;
		}
		tp_buf_release(&text);
	}
	if (has_any)
		tp_buf_putc(out, '\n');
}

static void add_cost(struct tp_buf *out, const struct tp_report_digest *digest)
{
	struct tp_buf stops = {0};
	tp_report_add_stops(&stops, digest);
	if (stops.len)
		tp_buf_printf(out, "Left out: %s. ", tp_buf_text(&stops));
	tp_buf_release(&stops);
	if (digest->is_hang && digest->profile->hang_text) {
		tp_markdown_add_plain(out, digest->profile->hang_text);
		tp_buf_putc(out, ' ');
	}
	tp_buf_puts(out, "Overhead ");
	tp_report_add_overhead(out, digest);
	if (digest->n_lost)
		tp_buf_printf(out, ", %s lost, ", tp_unit_counted(digest->n_lost, "record").text);
	else
		tp_buf_puts(out, ", no data lost, ");
	tp_report_add_end(out, digest);
}

static void add_footer(struct tp_buf *out, const struct tp_report_digest *digest)
{
	struct tp_buf text = {0};
	tp_report_add_missing(&text, digest, true);
	if (text.len) {
		tp_markdown_add_plain(out, tp_buf_text(&text));
		tp_buf_puts(out, "  \n");
	}
	tp_buf_clear(&text);
	tp_report_add_reduced(&text, digest);
	if (text.len) {
		tp_buf_puts(out, "Less detail: ");
		tp_markdown_add_plain(out, tp_buf_text(&text));
		tp_buf_puts(out, "  \n");
	}
	tp_buf_clear(&text);
	(digest->is_import ? tp_report_add_origin : add_cost)(&text, digest);
	tp_buf_printf(&text, "; trainprof %s", tp_version());
	tp_markdown_add_plain(out, tp_buf_text(&text));
	tp_buf_putc(out, '\n');
	tp_buf_release(&text);
}

static enum tp_status markdown_write(const struct tp_report *report,
				     const struct tp_report_style *style, FILE *out,
				     struct tp_error *err)
{
	(void)style;
	struct tp_report_digest digest;
	struct tp_buf text = {0};
	tp_report_digest_make(&digest, report);
	add_verdict(&text, &digest);
	add_parts(&text, &digest);
	add_top_line(&text, &digest);
	add_notes(&text, &digest);
	add_advices(&text, &digest);
	tp_markdown_add_gpus(&text, &digest);
	tp_markdown_add_devices(&text, &digest);
	tp_markdown_add_files(&text, &digest);
	add_footer(&text, &digest);
	fwrite(tp_buf_text(&text), 1, text.len, out);
	tp_buf_release(&text);
	return tp_file_check(out, "the report", err);
}

const struct tp_exporter tp_report_markdown = {
	.name = "markdown",
	.summary = "for pull requests and step summaries",
	.write = markdown_write,
};
