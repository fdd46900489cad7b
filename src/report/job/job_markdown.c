/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the report of a job as Markdown. */
#include "trainprof/report/job_text.h"

#include "job_sentences.h"
#include "report/digest/gain_text.h"
#include "report/digest/markdown_escape.h"
#include "trainprof/report/units.h"

#include <inttypes.h>
#include <string.h>

static void add_paragraph(struct tp_buf *out, struct tp_buf *text)
{
	if (text->len) {
		tp_markdown_add_plain(out, tp_buf_text(text));
		tp_buf_puts(out, ".\n\n");
	}
	tp_buf_clear(text);
}

static void add_rank_row(struct tp_buf *out, const struct tp_job *job,
			 const struct tp_job_rank *rank)
{
	struct tp_buf text = {0};
	tp_job_add_rank(&text, rank);
	tp_buf_puts(out, "| ");
	tp_markdown_add_plain(out, tp_buf_text(&text));
	tp_buf_puts(out, " | ");
	tp_markdown_add_plain(out, rank->host ? rank->host : "?");
	tp_buf_printf(out, " | %s", tp_unit_time(rank->own_ns).text);
	tp_buf_printf(out, " | %s", tp_unit_time(rank->wait_ns).text);
	tp_buf_printf(out, " | %zu of %zu | ", rank->n_last, job->n_steps);
	tp_buf_clear(&text);
	tp_job_add_mostly(&text, rank);
	tp_markdown_add_plain(out, tp_buf_text(&text));
	tp_buf_puts(out, " |\n");
	tp_buf_release(&text);
}

static void add_lines(struct tp_buf *out, const struct tp_job *job,
		      void (*add)(struct tp_buf *lines, const struct tp_job *job))
{
	struct tp_buf notes = {0};
	add(&notes, job);
	for (const char *at = tp_buf_text(&notes); *at;) {
		struct tp_buf line = {0};
		size_t len = strcspn(at, "\n");
		tp_buf_add(&line, at, len);
		tp_buf_puts(out, "- ");
		tp_markdown_add_plain(out, tp_buf_text(&line));
		tp_buf_putc(out, '\n');
		tp_buf_release(&line);
		at += len + (at[len] == '\n');
	}
	tp_buf_release(&notes);
}

void tp_report_job_markdown(struct tp_buf *out, const struct tp_job *job)
{
	struct tp_buf text = {0};
	add_lines(out, job, tp_job_add_ends);
	tp_buf_puts(out, "## ");
	tp_job_add_title(&text, job);
	tp_markdown_add_plain(out, tp_buf_text(&text));
	tp_buf_puts(out, "\n\n");
	tp_buf_clear(&text);
	tp_job_add_extent(&text, job);
	add_paragraph(out, &text);
	tp_job_add_sentence(&text, job);
	add_paragraph(out, &text);
	tp_job_add_cause(&text, job);
	add_paragraph(out, &text);
	tp_job_add_gain(&text, job);
	add_paragraph(out, &text);
	if (job->joined_by != TP_JOB_NOT_JOINED) {
		tp_buf_puts(out, "| rank | host | work | waits | last in | most of a step it |\n"
				 "| --- | --- | ---: | ---: | ---: | --- |\n");
		for (size_t i = 0; i < job->n_ranks; i++)
			if (job->ranks[i].is_joined)
				add_rank_row(out, job, &job->ranks[i]);
		tp_buf_putc(out, '\n');
	}
	for (size_t i = 0; i < job->n_advice; i++) {
		const struct tp_job_advice *advice = &job->advice[i];
		tp_buf_printf(out, "%zu. **", i + 1);
		tp_markdown_add_plain(out, advice->headline);
		tp_buf_puts(out, "** ");
		tp_report_add_gain(out, advice->gain_low, advice->gain_value, advice->gain_high);
		tp_buf_puts(out, ". ");
		tp_markdown_add_plain(out, advice->because);
		tp_buf_puts(out, i + 1 == job->n_advice ? "\n\n" : "\n");
	}
	add_lines(out, job, tp_job_add_notes);
	tp_buf_release(&text);
}
