/* SPDX-License-Identifier: Apache-2.0 */
/* Prints at which save the history of a baseline became slower. */
#include "trainprof/report/history_text.h"

#include "report/digest/markdown_escape.h"
#include "trainprof/report/units.h"

#include <string.h>

static const struct tp_history_save *save_at(const struct tp_history_result *r, size_t i)
{
	return &r->history->saves[i];
}

/* Index of the first slow save; the last save if the history did not become slower. */
static size_t first_slow(const struct tp_history_result *r)
{
	return r->answer == TP_GATE_FAIL ? r->levels[r->culprit].first : r->history->n - 1;
}

static void add_save(struct tp_buf *out, const struct tp_history_save *save)
{
	if (save->commit)
		tp_buf_printf(out, "%.8s", save->commit);
	else
		tp_buf_puts(out, "unknown commit");
	if (save->saved_at)
		tp_buf_printf(out, " (%.10s)", save->saved_at);
}

static void add_change(struct tp_buf *out, const struct tp_history_result *r)
{
	const struct tp_change *c = &r->change;
	const char *of = save_at(r, first_slow(r))->is_of_steps ? "step" : "run";
	tp_buf_printf(out, "%s became %s per %s: %+.1f %% (%+.1f to %+.1f).",
		      tp_unit_time(c->base).text, tp_unit_time(c->now).text, of,
		      100 * (c->difference - 1), 100 * (c->low - 1), 100 * (c->high - 1));
}

static bool has_advice(const struct tp_history_save *save, const char *rule)
{
	for (size_t i = 0; i < save->n_advice; i++)
		if (strcmp(save->advice[i], rule) == 0)
			return true;
	return false;
}

/* Appends the advice of the first slow save that the previous save does not have, and the place
 * with most time. */
static void add_cause(struct tp_buf *out, const struct tp_history_result *r)
{
	const struct tp_history_save *now = save_at(r, first_slow(r));
	const struct tp_history_save *before = save_at(r, first_slow(r) - 1);
	const char *between = "New since then: ";
	for (size_t i = 0; i < now->n_advice; i++) {
		if (has_advice(before, now->advice[i]))
			continue;
		tp_buf_printf(out, "%s%s", between, now->advice[i]);
		between = ", ";
	}
	if (now->place)
		tp_buf_printf(out, "%sost time: %s", between[0] == ',' ? ". M" : "M", now->place);
}

static void add_title(struct tp_buf *out, const struct tp_history_result *r)
{
	if (r->answer == TP_GATE_FAIL) {
		tp_buf_puts(out, "SLOWER SINCE ");
		add_save(out, save_at(r, first_slow(r)));
	} else {
		tp_buf_puts(out, r->answer == TP_GATE_PASS ? "NOT SLOWER" : "UNDECIDED");
	}
}

static void add_sentence(struct tp_buf *out, const struct tp_history_result *r)
{
	if (r->answer == TP_GATE_FAIL)
		add_change(out, r);
	else if (r->answer == TP_GATE_PASS)
		tp_buf_printf(out, "than its best time by %.0f %% or more", 100 * r->margin_ratio);
	else
		tp_buf_puts(out, r->undecided_because);
}

static void add_save_before(struct tp_buf *out, const struct tp_history_result *r)
{
	tp_buf_puts(out, "The last save before: ");
	add_save(out, save_at(r, first_slow(r) - 1));
}

/* The commits between the last fast and the first slow save; nothing if one is unknown. */
static void add_next(struct tp_buf *out, const struct tp_history_result *r)
{
	const struct tp_history_save *before = save_at(r, first_slow(r) - 1);
	const struct tp_history_save *now = save_at(r, first_slow(r));
	if (before->commit && now->commit)
		tp_buf_printf(out, "git log %.8s..%.8s", before->commit, now->commit);
}

static void print_line(struct tp_page *page, struct tp_buf *text)
{
	if (text->len)
		tp_page_wrap(page, 0, TP_PAINT_NONE, tp_buf_text(text), 0);
	tp_buf_clear(text);
}

static void print_fail(struct tp_page *page, const struct tp_history_result *r)
{
	struct tp_buf text = {0};
	add_save_before(&text, r);
	print_line(page, &text);
	add_cause(&text, r);
	print_line(page, &text);
	add_next(&text, r);
	if (text.len) {
		tp_page_addf(page, TP_PAINT_NONE, "Next: %s", tp_buf_text(&text));
		tp_page_end(page);
	}
	tp_buf_release(&text);
}

static void print_verdict(struct tp_page *page, const struct tp_history_result *r)
{
	static const enum tp_paint paints[] = {[TP_GATE_FAIL] = TP_PAINT_BAD,
					       [TP_GATE_PASS] = TP_PAINT_GOOD,
					       [TP_GATE_UNDECIDED] = TP_PAINT_WARN};
	struct tp_buf text = {0};
	add_title(&text, r);
	tp_page_addf(page, paints[r->answer], "%s  ", tp_buf_text(&text));
	tp_buf_clear(&text);
	add_sentence(&text, r);
	tp_page_wrap(page, 2, TP_PAINT_NONE, tp_buf_text(&text), 0);
	tp_buf_release(&text);
	if (r->answer == TP_GATE_FAIL)
		print_fail(page, r);
}

static void add_saves(struct tp_buf *out, const struct tp_history_result *r,
		      const struct tp_history_level *level)
{
	tp_buf_puts(out, "from ");
	add_save(out, save_at(r, level->first));
	if (level->n > 1) {
		tp_buf_puts(out, " to ");
		add_save(out, save_at(r, level->first + level->n - 1));
	}
}

static void add_drift(struct tp_buf *out, const struct tp_history_result *r)
{
	if (r->drift_ratio != 0)
		tp_buf_printf(out, "Taken out of these times: a drift of %+.2g %% per save",
			      100 * r->drift_ratio);
}

static void add_left_out(struct tp_buf *out, const struct tp_history_result *r)
{
	if (r->n_left_out)
		tp_buf_printf(out, "Left out: %s of another machine",
			      tp_unit_counted(r->n_left_out, "save").text);
}

void tp_report_history_text(struct tp_page *page, const struct tp_history_result *r)
{
	struct tp_buf text = {0};
	print_verdict(page, r);
	tp_page_end(page);
	for (size_t i = 0; i < r->n_levels; i++) {
		const struct tp_history_level *level = &r->levels[i];
		tp_page_addf(page, TP_PAINT_NONE, "%4zu save%s", level->n,
			     level->n == 1 ? "" : "s");
		tp_page_column(page, 12);
		tp_page_add(page, TP_PAINT_NONE, tp_unit_time(level->time_ns).text);
		tp_page_column(page, 22);
		add_saves(&text, r, level);
		tp_page_wrap(page, 22, TP_PAINT_NONE, tp_buf_text(&text), 0);
		tp_buf_clear(&text);
	}
	add_drift(&text, r);
	print_line(page, &text);
	add_left_out(&text, r);
	print_line(page, &text);
	tp_buf_release(&text);
}

static void add_paragraph(struct tp_buf *out, struct tp_buf *text)
{
	tp_markdown_add_plain(out, tp_buf_text(text));
	if (text->len)
		tp_buf_puts(out, "\n\n");
	tp_buf_clear(text);
}

void tp_report_history_markdown(struct tp_buf *out, const struct tp_history_result *r)
{
	struct tp_buf text = {0};
	add_title(&text, r);
	tp_buf_puts(out, "**");
	tp_markdown_add_plain(out, tp_buf_text(&text));
	tp_buf_puts(out, "** ");
	tp_buf_clear(&text);
	add_sentence(&text, r);
	add_paragraph(out, &text);
	if (r->answer == TP_GATE_FAIL) {
		add_save_before(&text, r);
		add_paragraph(out, &text);
		add_cause(&text, r);
		add_paragraph(out, &text);
		add_next(&text, r);
		if (text.len)
			tp_buf_printf(out, "Next: `%s`\n\n", tp_buf_text(&text));
		tp_buf_clear(&text);
	}
	for (size_t i = 0; i < r->n_levels; i++) {
		const struct tp_history_level *level = &r->levels[i];
		tp_buf_printf(out, "- %s, %s, ", tp_unit_counted(level->n, "save").text,
			      tp_unit_time(level->time_ns).text);
		add_saves(&text, r, level);
		tp_markdown_add_plain(out, tp_buf_text(&text));
		tp_buf_putc(out, '\n');
		tp_buf_clear(&text);
	}
	tp_buf_putc(out, '\n');
	add_drift(&text, r);
	add_paragraph(out, &text);
	add_left_out(&text, r);
	add_paragraph(out, &text);
	tp_buf_release(&text);
}

static void write_level(struct tp_json_writer *w, const struct tp_history_result *r, size_t i)
{
	const struct tp_history_level *level = &r->levels[i];
	const struct tp_history_save *first = save_at(r, level->first);
	tp_json_open(w, '{');
	tp_json_put_number(w, "time_ns", level->time_ns);
	tp_json_put_uint(w, "saves", level->n);
	tp_json_put_string(w, "first_commit", first->commit);
	tp_json_put_string(w, "first_saved_at", first->saved_at);
	tp_json_close(w, '}');
}

void tp_report_history_json(struct tp_json_writer *w, const struct tp_history_result *r, int status)
{
	bool is_fail = r->answer == TP_GATE_FAIL;
	tp_json_open(w, '{');
	tp_json_put_string(w, "schema", "trainprof-history/1.0");
	tp_json_put_string(w, "answer", tp_gate_verdict_name(r->answer));
	tp_json_put_uint(w, "status", (uint64_t)status);
	tp_json_put_string(w, "because", r->undecided_because);
	tp_json_put_string(w, "slower_since", is_fail ? save_at(r, first_slow(r))->commit : NULL);
	tp_json_put_string(w, "last_before",
			   is_fail ? save_at(r, first_slow(r) - 1)->commit : NULL);
	tp_json_write_key(w, "ratio");
	tp_json_open(w, '{');
	tp_json_put_number(w, "value", r->change.difference);
	tp_json_put_number(w, "low", r->change.low);
	tp_json_put_number(w, "high", r->change.high);
	tp_json_close(w, '}');
	if (r->drift_ratio != 0)
		tp_json_put_number(w, "drift_per_save_ratio", r->drift_ratio);
	tp_json_put_uint(w, "left_out", r->n_left_out);
	tp_json_write_key(w, "levels");
	tp_json_open(w, '[');
	for (size_t i = 0; i < r->n_levels; i++)
		write_level(w, r, i);
	tp_json_close(w, ']');
	tp_json_close(w, '}');
}
