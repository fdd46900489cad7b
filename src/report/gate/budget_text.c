/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the result of checking a budget. */
#include "trainprof/report/budget_text.h"

#include "report/digest/markdown_escape.h"
#include "trainprof/base/version.h"

static const char *word_of(const struct tp_assertion_result *item)
{
	if (item->answer == TP_GATE_FAIL)
		return item->assertion->is_error ? "FAIL" : "warn";
	return item->answer == TP_GATE_PASS ? "pass" : item->is_measured ? "?" : "-";
}

static void add_rest(struct tp_buf *out, const struct tp_assertion_result *item)
{
	tp_buf_printf(out, "%s", item->is && item->is_measured ? item->is : "not measured");
	if (item->limit)
		tp_buf_printf(out, ", %s", item->limit);
	if (!item->assertion->is_error && item->answer != TP_GATE_FAIL)
		tp_buf_puts(out, " (warning)");
	if (item->because)
		tp_buf_printf(out, ": %s", item->because);
}

static void add_sum(struct tp_buf *out, const struct tp_budget_result *result)
{
	tp_buf_printf(out, "%zu assertion%s on %zu run%s: %zu failed, %zu unclear", result->n_items,
		      result->n_items == 1 ? "" : "s", result->n_runs,
		      result->n_runs == 1 ? "" : "s", result->n_failed, result->n_undecided);
	if (result->n_not_measured)
		tp_buf_printf(out, " (%zu not measured)", result->n_not_measured);
	if (result->n_warned)
		tp_buf_printf(out, ", %zu warning%s", result->n_warned,
			      result->n_warned == 1 ? "" : "s");
}

static void add_causes(struct tp_page *page, const struct tp_budget_result *result)
{
	if (result->n_causes || result->next)
		tp_page_end(page);
	for (size_t i = 0; i < result->n_causes; i++) {
		tp_page_add(page, TP_PAINT_NONE, i ? "" : "why");
		tp_page_column(page, 6);
		tp_page_wrap(page, 8, TP_PAINT_NONE, result->causes[i], 0);
	}
	if (!result->next)
		return;
	tp_page_add(page, TP_PAINT_NONE, "next");
	tp_page_column(page, 6);
	tp_page_wrap(page, 8, TP_PAINT_NONE, result->next, 0);
}

void tp_report_budget_text(struct tp_page *page, const struct tp_budget_result *result)
{
	struct tp_buf text = {0};
	for (size_t i = 0; i < result->n_items; i++) {
		const struct tp_assertion_result *item = &result->items[i];
		enum tp_paint paint = item->answer == TP_GATE_FAIL   ? TP_PAINT_BAD
				      : item->answer == TP_GATE_PASS ? TP_PAINT_GOOD
								     : TP_PAINT_WARN;
		tp_page_addf(page, paint, "%s", word_of(item));
		tp_page_column(page, 6);
		tp_page_addf(page, TP_PAINT_NONE, "%s  ", item->assertion->name);
		add_rest(&text, item);
		tp_page_wrap(page, 8, TP_PAINT_NONE, tp_buf_text(&text), 0);
		tp_buf_clear(&text);
	}
	add_causes(page, result);
	tp_page_end(page);
	add_sum(&text, result);
	tp_page_wrap(page, 0, TP_PAINT_BOLD, tp_buf_text(&text), 0);
	tp_buf_release(&text);
}

void tp_report_budget_markdown(struct tp_buf *out, const struct tp_budget_result *result)
{
	struct tp_buf text = {0};
	tp_buf_puts(out, "| answer | assertion | measured, limit |\n| --- | --- | --- |\n");
	for (size_t i = 0; i < result->n_items; i++) {
		tp_buf_printf(out, "| %s | ", word_of(&result->items[i]));
		tp_markdown_add_plain(out, result->items[i].assertion->name);
		add_rest(&text, &result->items[i]);
		tp_buf_puts(out, " | ");
		tp_markdown_add_plain(out, tp_buf_text(&text));
		tp_buf_puts(out, " |\n");
		tp_buf_clear(&text);
	}
	tp_buf_putc(out, '\n');
	for (size_t i = 0; i < result->n_causes; i++) {
		tp_buf_puts(out, i ? "- " : "Likely causes:\n\n- ");
		tp_markdown_add_plain(out, result->causes[i]);
		tp_buf_putc(out, '\n');
	}
	if (result->n_causes)
		tp_buf_putc(out, '\n');
	if (result->next) {
		tp_buf_puts(out, "Next: ");
		tp_markdown_add_plain(out, result->next);
		tp_buf_puts(out, "\n\n");
	}
	add_sum(out, result);
	tp_buf_putc(out, '\n');
	tp_buf_release(&text);
}

void tp_report_budget_json(struct tp_json_writer *w, const struct tp_budget_result *result,
			   int status)
{
	tp_json_put_string(w, "schema", "trainprof-check/1.0");
	tp_json_put_string(w, "version", tp_version());
	tp_json_put_string(w, "budget", result->budget->path);
	tp_json_put_uint(w, "runs", result->n_runs);
	tp_json_put_uint(w, "exit_status", (uint64_t)status);
	tp_json_write_key(w, "assertions");
	tp_json_open(w, '[');
	for (size_t i = 0; i < result->n_items; i++) {
		const struct tp_assertion_result *item = &result->items[i];
		tp_json_open(w, '{');
		tp_json_put_string(w, "name", item->assertion->name);
		tp_json_put_string(w, "level", item->assertion->is_error ? "error" : "warn");
		tp_json_put_string(w, "answer", tp_gate_verdict_name(item->answer));
		tp_json_put_bool(w, "is_measured", item->is_measured);
		tp_json_put_known_string(w, "measured", item->is);
		tp_json_put_known_string(w, "limit", item->limit);
		tp_json_put_known_string(w, "because", item->because);
		tp_json_put_known_string(w, "note", item->assertion->note);
		tp_json_close(w, '}');
	}
	tp_json_close(w, ']');
	tp_json_write_key(w, "causes");
	tp_json_open(w, '[');
	for (size_t i = 0; i < result->n_causes; i++)
		tp_json_write_string(w, result->causes[i]);
	tp_json_close(w, ']');
	tp_json_put_known_string(w, "next", result->next);
}
