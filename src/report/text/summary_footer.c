/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the end of the screen after a run: how it was measured, and what to type next. */
#include "summary_footer.h"

#include "report/digest/verdict.h"
#include "report/digest/verdict_gaps.h"
#include "screen_width.h"

#include "trainprof/base/text.h"
#include "trainprof/model/fact.h"

#include <stdio.h>
#include <string.h>

static void print_missing(struct tp_page *page, const struct tp_report_digest *digest)
{
	struct tp_buf text = {0};
	tp_report_add_verdict_gaps(&text, digest);
	if (text.len)
		tp_page_wrap(page, 2, TP_PAINT_NONE, tp_buf_text(&text), 2);
	tp_buf_release(&text);
}

static void print_stops(struct tp_page *page, const struct tp_report_digest *digest)
{
	struct tp_buf text = {0};
	tp_report_add_stops(&text, digest);
	if (text.len) {
		tp_page_add(page, TP_PAINT_WARN, "Left out: ");
		tp_page_wrap(page, 2, TP_PAINT_NONE, tp_buf_text(&text), 2);
	}
	tp_buf_release(&text);
}

/* True if the line about overhead is the short one, which also says "less detail". */
static bool is_cost_short(const struct tp_page *page, const struct tp_report_digest *digest)
{
	return digest->is_footer_short &&
	       (tp_screen_is_narrow(page) ||
		digest->profile->facts[TP_FACT_RUN_OVERHEAD_RATIO].is_known);
}

static void print_reduced(struct tp_page *page, const struct tp_report_digest *digest)
{
	struct tp_buf text = {0};
	tp_report_add_reduced(&text, digest);
	if (text.len && !is_cost_short(page, digest)) {
		/* The details are many numbers; --full has them. */
		bool is_short = page->style->is_full ||
				tp_text_width(tp_buf_text(&text)) + 13 <= tp_page_room(page);
		tp_page_add(page, TP_PAINT_WARN, is_short ? "Less detail: " : "Less detail");
		tp_page_wrap(page, 2, TP_PAINT_NONE,
			     is_short ? tp_buf_text(&text) : " than asked for: see report --full",
			     page->style->is_full ? 0 : 2);
	}
	tp_buf_release(&text);
}

static void print_origin(struct tp_page *page, const struct tp_report_digest *digest)
{
	struct tp_buf text = {0};
	tp_report_add_origin(&text, digest);
	/* The hash of the file is last; --full has it in full. */
	char *hash = text.data ? strstr(text.data, ", SHA-256 ") : NULL;
	if (hash && digest->lines_each == 1 && tp_text_width(text.data) > tp_page_room(page))
		*hash = '\0';
	tp_page_wrap(page, 2, digest->n_lost ? TP_PAINT_WARN : TP_PAINT_NONE, tp_buf_text(&text),
		     digest->lines_each);
	tp_buf_release(&text);
}

static void add_less_detail(struct tp_buf *out, const struct tp_report_digest *digest)
{
	struct tp_buf reduced = {0};
	tp_report_add_reduced(&reduced, digest);
	if (digest->is_footer_short && reduced.len)
		tp_buf_puts(out, ", less detail");
	tp_buf_release(&reduced);
}

static void add_lost_and_end(struct tp_buf *out, const struct tp_report_digest *digest)
{
	if (digest->n_lost)
		tp_buf_printf(out, ", %s lost, ", tp_unit_counted(digest->n_lost, "record").text);
	else
		tp_buf_puts(out, ", no data lost, ");
	tp_report_add_end(out, digest);
}

/* The parts of the overhead are in --full, and so is what has less detail. */
static void add_short_cost(struct tp_buf *out, const struct tp_report_digest *digest)
{
	const struct tp_quantity *overhead = &digest->profile->facts[TP_FACT_RUN_OVERHEAD_RATIO];
	tp_buf_puts(out, tp_unit_percent(overhead->value).text);
	tp_report_add_tracing_cost(out, digest);
	add_less_detail(out, digest);
	add_lost_and_end(out, digest);
}

static void print_cost(struct tp_page *page, const struct tp_report_digest *digest)
{
	struct tp_buf text = {0};
	const struct tp_quantity *overhead = &digest->profile->facts[TP_FACT_RUN_OVERHEAD_RATIO];
	tp_buf_puts(&text, "Overhead ");
	if (tp_screen_is_narrow(page)) {
		tp_buf_puts(&text,
			    overhead->is_known ? tp_unit_percent(overhead->value).text : "unknown");
		add_less_detail(&text, digest);
		tp_buf_printf(&text, ", %s lost", tp_unit_count(digest->n_lost).text);
	} else {
		size_t start = text.len;
		tp_report_add_overhead(&text, digest);
		add_lost_and_end(&text, digest);
		bool is_long = digest->lines_each == 1 &&
			       tp_text_width(tp_buf_text(&text)) > tp_page_room(page);
		if ((is_long && overhead->is_known) || is_cost_short(page, digest)) {
			text.data[start] = '\0';
			text.len = start;
			add_short_cost(&text, digest);
		}
	}
	tp_page_wrap(page, 2, digest->n_lost ? TP_PAINT_WARN : TP_PAINT_NONE, tp_buf_text(&text),
		     2);
	tp_buf_release(&text);
}

/* The printed command must work as it is. */
static void add_next(struct tp_buf *out, const struct tp_report_digest *digest)
{
	bool is_last = digest->report->is_last;
	const char *between = is_last ? "" : " ";
	const char *where = is_last ? "" : digest->report->directory;
	bool has_advice = digest->is_judgeable && tp_report_n_advice(digest->report);
	tp_buf_puts(out, ". Next: trainprof ");
	if (digest->report->can_view)
		tp_buf_printf(out, "view%s%s", between, where);
	if (digest->report->can_view && !is_last)
		return;
	if (digest->report->can_view)
		tp_buf_puts(out, " | ");
	if (has_advice)
		tp_buf_printf(out, "explain%s%s 1", between, where);
	if (has_advice && is_last)
		tp_buf_puts(out, " | ");
	if (is_last || !has_advice)
		tp_buf_printf(out, "report --full%s%s", between, where);
}

static void print_saved(struct tp_page *page, const struct tp_report_digest *digest)
{
	struct tp_buf text = {0};
	tp_buf_printf(&text, "Saved %s%s", digest->report->directory,
		      digest->trace->is_partial ? " (partial)" : "");
	bool is_last = digest->report->is_last;
	char name[24];
	bool is_crash = digest->report->is_after_run && digest->run->end == TP_END_SIGNALED;
	if (is_crash)
		tp_buf_printf(&text, "; exit status as %s: %s (%d)", digest->program,
			      tp_report_signal_name(digest->run->end_code, name, sizeof(name)),
			      128 + digest->run->end_code);
	else
		add_next(&text, digest);
	/* A long name is only in the command to type, not printed twice. */
	const char *next = strstr(tp_buf_text(&text), "Next: ");
	bool is_long = tp_text_width(tp_buf_text(&text)) > tp_page_room(page);
	bool is_named_twice = next && is_long && !is_last && !digest->trace->is_partial;
	tp_page_wrap(page, 2, TP_PAINT_NONE, is_named_twice ? next : tp_buf_text(&text), 2);
	tp_buf_release(&text);
}

void tp_report_print_footer(struct tp_page *page, const struct tp_report_digest *digest)
{
	if (digest->is_judgeable)
		tp_page_end(page);
	print_stops(page, digest);
	print_missing(page, digest);
	print_reduced(page, digest);
	(digest->is_import ? print_origin : print_cost)(page, digest);
	if (tp_screen_is_narrow(page)) {
		tp_page_add(page, TP_PAINT_NONE, "More: trainprof report --full");
		tp_page_end(page);
	} else {
		print_saved(page, digest);
	}
}
