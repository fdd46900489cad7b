/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the report of a job of several ranks. */
#include "trainprof/report/job_text.h"

#include "job_sentences.h"
#include "report/digest/gain_text.h"
#include "trainprof/base/text.h"
#include "trainprof/base/version.h"
#include "trainprof/report/report.h"
#include "trainprof/report/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* With more ranks, only those with the most own time are shown. */
enum {
	ROWS_MAX = 16,
	COLUMN_HOST = 6,
	COLUMN_OWN = 22,
	COLUMN_WAIT = 34,
	COLUMN_LAST = 46,
	COLUMN_MOSTLY = 56
};

static void print_lines(struct tp_page *page, const struct tp_buf *lines)
{
	const char *text = tp_buf_text(lines);
	while (*text) {
		size_t len = strcspn(text, "\n");
		char *line = strndup(text, len);
		tp_page_wrap(page, 2, TP_PAINT_NONE, line ? line : "", 0);
		free(line);
		text += len + (text[len] == '\n');
	}
}

static void print_wrapped(struct tp_page *page, struct tp_buf *text)
{
	if (text->len)
		tp_page_wrap(page, 2, TP_PAINT_NONE, tp_buf_text(text), 0);
	tp_buf_clear(text);
}

static void print_head(struct tp_page *page, const struct tp_job *job, struct tp_buf *text)
{
	tp_page_addf(page, TP_PAINT_NONE, "trainprof %s  %s", tp_version(),
		     job->label ? job->label : "job");
	if (job->launcher)
		tp_page_addf(page, TP_PAINT_NONE, " (%s%s%.24s)", job->launcher,
			     job->id ? ", job " : "", job->id ? job->id : "");
	tp_job_add_extent(text, job);
	tp_page_right(page, TP_PAINT_NONE, tp_buf_text(text));
	tp_buf_clear(text);
	tp_job_add_ends(text, job);
	print_lines(page, text);
	tp_buf_clear(text);
	enum tp_paint paint = job->verdict == TP_JOB_EVEN          ? TP_PAINT_GOOD
			      : job->verdict == TP_JOB_CANNOT_TELL ? TP_PAINT_WARN
								   : TP_PAINT_BAD;
	tp_job_add_title(text, job);
	tp_page_addf(page, paint, "%s  ", tp_buf_text(text));
	tp_buf_clear(text);
	tp_job_add_sentence(text, job);
	if (job->n_steps)
		tp_buf_printf(text, ". A step takes %s", tp_unit_time(job->step_ns).text);
	print_wrapped(page, text);
	tp_job_add_cause(text, job);
	if (text->len)
		tp_buf_putc(text, '.');
	print_wrapped(page, text);
	tp_job_add_gain(text, job);
	if (text->len)
		tp_buf_putc(text, '.');
	print_wrapped(page, text);
}

/* ---- ranks ----------------------------------------------------------------------------------- */

struct rank_row {
	const struct tp_job_rank *rank;
};

static int by_own_time(const void *a, const void *b)
{
	const struct tp_job_rank *x = ((const struct rank_row *)a)->rank;
	const struct tp_job_rank *y = ((const struct rank_row *)b)->rank;
	return x->own_ns < y->own_ns ? 1 : x->own_ns > y->own_ns ? -1 : x < y ? -1 : 1;
}

static void print_rank(struct tp_page *page, const struct tp_job *job,
		       const struct tp_job_rank *rank)
{
	struct tp_buf mostly = {0};
	enum tp_paint paint = rank->is_late ? TP_PAINT_BAD : TP_PAINT_NONE;
	if (rank->number >= 0)
		tp_page_addf(page, paint, "%4" PRId64, rank->number);
	else
		tp_page_addf(page, paint, "%d", (int)rank->pid);
	tp_page_column(page, COLUMN_HOST);
	tp_page_addf(page, TP_PAINT_NONE, " %.14s", rank->host ? rank->host : "?");
	tp_page_column(page, COLUMN_OWN);
	tp_page_add(page, TP_PAINT_NONE, tp_unit_right(tp_unit_time(rank->own_ns), 10).text);
	tp_page_column(page, COLUMN_WAIT);
	tp_page_add(page, TP_PAINT_NONE, tp_unit_right(tp_unit_time(rank->wait_ns), 10).text);
	tp_page_column(page, COLUMN_LAST);
	if (job->n_steps)
		tp_page_addf(page, TP_PAINT_NONE, "%8s",
			     tp_unit_percent((double)rank->n_last / (double)job->n_steps).text);
	if (page->style->width >= 80) {
		tp_page_column(page, COLUMN_MOSTLY);
		tp_job_add_mostly(&mostly, rank);
		tp_page_addf(page, TP_PAINT_NONE, "%s", tp_buf_text(&mostly));
		tp_buf_release(&mostly);
	}
	tp_page_end(page);
}

static void print_heads(struct tp_page *page)
{
	tp_page_end(page);
	tp_page_add(page, TP_PAINT_DIM, "rank");
	tp_page_column(page, COLUMN_HOST);
	tp_page_add(page, TP_PAINT_DIM, " host");
	tp_page_column(page, COLUMN_OWN);
	tp_page_add(page, TP_PAINT_DIM, "      work");
	tp_page_column(page, COLUMN_WAIT);
	tp_page_add(page, TP_PAINT_DIM, "     waits");
	tp_page_column(page, COLUMN_LAST);
	tp_page_add(page, TP_PAINT_DIM, " last in");
	if (page->style->width >= 80) {
		tp_page_column(page, COLUMN_MOSTLY);
		tp_page_add(page, TP_PAINT_DIM, "most of a step it");
	}
	tp_page_end(page);
}

static void print_ranks(struct tp_page *page, const struct tp_job *job)
{
	struct rank_row *rows = calloc(job->n_ranks + 1, sizeof(*rows));
	size_t n = 0;
	for (size_t i = 0; rows && i < job->n_ranks; i++)
		if (job->ranks[i].is_joined)
			rows[n++].rank = &job->ranks[i];
	if (!n)
		goto out;
	if (n > ROWS_MAX)
		qsort(rows, n, sizeof(*rows), by_own_time);
	print_heads(page);
	for (size_t i = 0; i < n && i < ROWS_MAX; i++)
		print_rank(page, job, rows[i].rank);
	if (n > ROWS_MAX) {
		tp_page_addf(page, TP_PAINT_NONE, "  and %zu more, with %s to ", n - ROWS_MAX,
			     tp_unit_time(rows[n - 1].rank->own_ns).text);
		tp_page_addf(page, TP_PAINT_NONE, "%s of work per step",
			     tp_unit_time(rows[ROWS_MAX].rank->own_ns).text);
		tp_page_end(page);
	}
out:
	free(rows);
}

/* ---- parts ----------------------------------------------------------------------------------- */

static int double_order(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;
	return (x > y) - (x < y);
}

static double part_of_rank(const struct tp_job_rank *rank, int part)
{
	double ns = 0;
	for (int label = 0; label < TP_N_LABELS; label++)
		if ((int)tp_label_part((enum tp_label)label) == part)
			ns += rank->label_ns[label];
	return ns;
}

static void print_part(struct tp_page *page, const struct tp_job *job, int part, double *values)
{
	size_t n = 0;
	for (size_t i = 0; i < job->n_ranks; i++)
		if (job->ranks[i].is_joined)
			values[n++] = part_of_rank(&job->ranks[i], part);
	qsort(values, n, sizeof(*values), double_order);
	if (!n || values[n - 1] < 0.005 * job->step_ns)
		return;
	tp_page_addf(page, TP_PAINT_NONE, "  %s", tp_part_name((enum tp_part)part));
	tp_page_column(page, COLUMN_OWN);
	tp_page_add(page, TP_PAINT_NONE, tp_unit_right(tp_unit_time(values[0]), 10).text);
	tp_page_column(page, COLUMN_WAIT);
	tp_page_add(page, TP_PAINT_NONE, tp_unit_right(tp_unit_time(values[n / 2]), 10).text);
	tp_page_column(page, COLUMN_LAST);
	tp_page_add(page, TP_PAINT_NONE, tp_unit_right(tp_unit_time(values[n - 1]), 8).text);
	tp_page_end(page);
}

static void print_parts(struct tp_page *page, const struct tp_job *job)
{
	double *values = calloc(job->n_ranks + 1, sizeof(*values));
	tp_page_end(page);
	tp_page_add(page, TP_PAINT_DIM, job->n_steps ? "of a step, over ranks" : "of a second");
	tp_page_column(page, COLUMN_OWN);
	tp_page_add(page, TP_PAINT_DIM, "     least");
	tp_page_column(page, COLUMN_WAIT);
	tp_page_add(page, TP_PAINT_DIM, "    middle");
	tp_page_column(page, COLUMN_LAST);
	tp_page_add(page, TP_PAINT_DIM, "    most");
	tp_page_end(page);
	for (int part = 0; values && part < TP_N_PARTS; part++)
		print_part(page, job, part, values);
	free(values);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void print_advice(struct tp_page *page, const struct tp_job *job, struct tp_buf *text)
{
	if (!job->n_advice)
		return;
	tp_page_end(page);
	tp_page_add(page, TP_PAINT_BOLD, "What to change on the late rank");
	tp_page_right(page, TP_PAINT_DIM, "the job is faster by");
	for (size_t i = 0; i < job->n_advice; i++) {
		const struct tp_job_advice *advice = &job->advice[i];
		struct tp_buf gain = {0};
		tp_report_add_gain(&gain, advice->gain_low, advice->gain_value, advice->gain_high);
		tp_buf_printf(text, " %zu  %s", i + 1, advice->headline);
		tp_page_wrap_with_right(page, 4, tp_buf_text(text), TP_PAINT_BOLD,
					tp_buf_text(&gain), 0);
		tp_buf_clear(text);
		tp_page_add(page, TP_PAINT_NONE, "    ");
		tp_page_wrap(page, 4, TP_PAINT_DIM, advice->because, 2);
		tp_buf_release(&gain);
	}
}

static void print_next(struct tp_page *page, const struct tp_job *job, const char *shown,
		       struct tp_buf *text)
{
	const char *directory = NULL;
	if (job->late != TP_JOB_NO_RANK)
		directory = job->ranks[job->late].directory;
	else if (job->n_ranks)
		directory = job->ranks[0].directory;
	if (!directory || job->has_no_recording)
		return;
	tp_buf_puts(text, "Next: trainprof report ");
	tp_text_add_word(text, directory);
	if (shown && strcmp(shown, directory) == 0) {
		tp_buf_clear(text);
		return;
	}
	tp_buf_puts(text, "   (one rank alone)");
	print_wrapped(page, text);
}

void tp_report_job_text(struct tp_page *page, const struct tp_job *job, const char *shown)
{
	struct tp_buf text = {0};
	print_head(page, job, &text);
	if (job->joined_by != TP_JOB_NOT_JOINED) {
		print_ranks(page, job);
		print_parts(page, job);
	}
	print_advice(page, job, &text);
	tp_page_end(page);
	tp_job_add_notes(&text, job);
	print_lines(page, &text);
	tp_buf_clear(&text);
	print_next(page, job, shown, &text);
	tp_buf_release(&text);
}
