/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the differences between runs as Markdown. */
#include "trainprof/report/diff_text.h"

#include "diff_sentences.h"
#include "report/digest/markdown_escape.h"

static void add_line(struct tp_buf *out, const char *head, struct tp_buf *text, const char *end)
{
	tp_buf_puts(out, head);
	tp_markdown_add_plain(out, tp_buf_text(text));
	tp_buf_puts(out, end);
	tp_buf_clear(text);
}

static void add_table(struct tp_buf *out, const struct tp_run_diff *diff)
{
	struct tp_diff_row rows[1 + TP_N_PARTS];
	size_t n = tp_diff_rows(rows, diff);
	tp_buf_puts(out, "|  | base | new | change | 95 % |\n| --- | --- | --- | --- | --- |\n");
	for (size_t i = 0; i < n; i++) {
		const char *mark = rows[i].is_sure ? "**" : "";
		tp_buf_printf(out, "| %s | %s | %s | %s%s%s | %s |\n", rows[i].name,
			      rows[i].base.text, rows[i].now.text, mark, rows[i].difference.text,
			      mark, rows[i].interval.text);
	}
	tp_buf_putc(out, '\n');
}

static void add_lists(struct tp_buf *out, const struct tp_run_diff *diff, struct tp_buf *text)
{
	for (size_t i = 0; i < diff->n_unlike; i++) {
		tp_diff_add_difference(text, &diff->unlike[i]);
		add_line(out, "- not the same: ", text, "\n");
	}
	for (size_t i = 0; i < diff->n_warnings; i++) {
		tp_buf_puts(text, diff->warnings[i]);
		add_line(out, "- careful: ", text, "\n");
	}
	for (size_t i = 0; i < diff->n_promises; i++) {
		tp_diff_add_gain(text, diff, &diff->promises[i]);
		add_line(out, "- promise: ", text, "\n");
	}
	for (size_t i = 0; i < diff->n_items; i++) {
		tp_diff_add_item(text, &diff->items[i]);
		add_line(out, "- ", text, "\n");
	}
}

void tp_report_diff_markdown(struct tp_buf *out, const struct tp_run_diff *diff)
{
	struct tp_buf text = {0};
	tp_buf_printf(out, "**%s** ", tp_diff_title(diff));
	tp_diff_add_sentence(&text, diff);
	add_line(out, "", &text, "\n\n");
	tp_diff_add_evidence(&text, diff);
	add_line(out, "", &text, "\n\n");
	if (diff->has_gate) {
		tp_diff_add_verdict(&text, diff);
		add_line(out, "", &text, "\n\n");
	}
	tp_diff_add_names(&text, diff->base, diff->spread.n_base);
	add_line(out, "Base: ", &text, "  \n");
	tp_diff_add_names(&text, diff->now, diff->spread.n_now);
	add_line(out, "New: ", &text, "\n\n");
	if (diff->ratio.is_known)
		add_table(out, diff);
	add_lists(out, diff, &text);
	tp_buf_release(&text);
}
