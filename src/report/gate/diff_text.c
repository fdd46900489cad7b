/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the differences between runs. */
#include "trainprof/report/diff_text.h"

#include "diff_sentences.h"
#include "trainprof/report/report.h"

enum { COLUMN_BASE = 17, COLUMN_NOW = 29, COLUMN_DIFFERENCE = 41, COLUMN_INTERVAL = 54 };

static void print_line(struct tp_page *page, const char *head, enum tp_paint paint,
		       struct tp_buf *text)
{
	tp_page_add(page, TP_PAINT_BOLD, head);
	tp_page_wrap(page, 2, paint, tp_buf_text(text), 0);
	tp_buf_clear(text);
}

static void print_head(struct tp_page *page, const struct tp_run_diff *diff, struct tp_buf *text)
{
	bool is_answer = diff->ratio.is_sure && !diff->unsound_because;
	enum tp_paint paint = !is_answer                   ? TP_PAINT_BOLD
			      : diff->ratio.difference > 1 ? TP_PAINT_BAD
							   : TP_PAINT_GOOD;
	tp_page_addf(page, paint, "%s  ", tp_diff_title(diff));
	tp_diff_add_sentence(text, diff);
	tp_page_wrap(page, 2, TP_PAINT_NONE, tp_buf_text(text), 0);
	tp_buf_clear(text);
	tp_diff_add_evidence(text, diff);
	tp_page_wrap(page, 0, TP_PAINT_NONE, tp_buf_text(text), 0);
	tp_buf_clear(text);
	if (diff->has_gate) {
		tp_diff_add_verdict(text, diff);
		print_line(page, "", TP_PAINT_NONE, text);
	}
	tp_page_end(page);
	tp_diff_add_names(text, diff->base, diff->spread.n_base);
	print_line(page, "base  ", TP_PAINT_NONE, text);
	tp_diff_add_names(text, diff->now, diff->spread.n_now);
	print_line(page, "new   ", TP_PAINT_NONE, text);
}

/* On a narrow screen the interval takes a line of its own. */
static void print_interval(struct tp_page *page, const char *interval)
{
	if (page->style->width < 80) {
		tp_page_end(page);
		tp_page_column(page, 4);
	} else {
		tp_page_column(page, COLUMN_INTERVAL);
	}
	tp_page_add(page, TP_PAINT_NONE, interval);
}

static void print_table(struct tp_page *page, const struct tp_run_diff *diff)
{
	struct tp_diff_row rows[1 + TP_N_PARTS];
	size_t n = tp_diff_rows(rows, diff);
	bool is_narrow = page->style->width < 80;
	size_t now = is_narrow ? 24 : COLUMN_NOW;
	size_t difference = is_narrow ? 34 : COLUMN_DIFFERENCE;
	size_t base = is_narrow ? 14 : COLUMN_BASE;
	tp_page_end(page);
	tp_page_column(page, base);
	tp_page_add(page, TP_PAINT_DIM, "base");
	tp_page_column(page, now);
	tp_page_add(page, TP_PAINT_DIM, "new");
	tp_page_column(page, difference);
	tp_page_add(page, TP_PAINT_DIM, "change");
	tp_page_end(page);
	for (size_t i = 0; i < n; i++) {
		enum tp_paint paint = rows[i].is_sure ? TP_PAINT_BOLD : TP_PAINT_NONE;
		tp_page_addf(page, TP_PAINT_NONE, "%s%s", rows[i].is_sure ? "* " : "  ",
			     rows[i].name);
		tp_page_column(page, base);
		tp_page_add(page, TP_PAINT_NONE, rows[i].base.text);
		tp_page_column(page, now);
		tp_page_add(page, TP_PAINT_NONE, rows[i].now.text);
		tp_page_column(page, difference);
		tp_page_add(page, paint, rows[i].difference.text);
		print_interval(page, rows[i].interval.text);
		tp_page_end(page);
	}
	tp_page_wrap(page, 2, TP_PAINT_DIM,
		     "* more than chance; intervals of 95 %, of the parts together.", 0);
}

static void print_lists(struct tp_page *page, const struct tp_run_diff *diff, struct tp_buf *text)
{
	if (diff->n_unlike + diff->n_warnings + diff->n_items + diff->n_promises)
		tp_page_end(page);
	for (size_t i = 0; i < diff->n_unlike; i++) {
		tp_diff_add_difference(text, &diff->unlike[i]);
		print_line(page, "not the same: ",
			   diff->unlike[i].is_ignored ? TP_PAINT_NONE : TP_PAINT_WARN, text);
	}
	for (size_t i = 0; i < diff->n_warnings; i++) {
		tp_buf_puts(text, diff->warnings[i]);
		print_line(page, "careful: ", TP_PAINT_WARN, text);
	}
	for (size_t i = 0; i < diff->n_promises; i++) {
		tp_diff_add_gain(text, diff, &diff->promises[i]);
		print_line(page, "promise: ", TP_PAINT_NONE, text);
	}
	for (size_t i = 0; i < diff->n_items; i++) {
		tp_diff_add_item(text, &diff->items[i]);
		print_line(page, "", TP_PAINT_NONE, text);
	}
	if (diff->n_left_out) {
		tp_buf_printf(text, "%zu more differences: --json", diff->n_left_out);
		print_line(page, "", TP_PAINT_DIM, text);
	}
}

void tp_report_diff_text(struct tp_page *page, const struct tp_run_diff *diff)
{
	struct tp_buf text = {0};
	print_head(page, diff, &text);
	if (diff->ratio.is_known)
		print_table(page, diff);
	print_lists(page, diff, &text);
	tp_buf_release(&text);
}
