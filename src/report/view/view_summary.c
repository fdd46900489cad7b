/* SPDX-License-Identifier: Apache-2.0 */
/* The first screen: the verdict, the parts of a step, the advice. */
#include "view_state.h"

#include "report/digest/gain_text.h"
#include "report/digest/source_lines.h"
#include "report/digest/step_counts.h"
#include "report/digest/verdict.h"
#include "report/text/live_lines.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <ctype.h>
#include <string.h>

enum { ADVICE_FROM = 16, LABELS_MAX = 4, RANKS_MAX = 8 };

/* Items: parts, largest first; then advice from ADVICE_FROM on. */
static void make(struct tp_view *view, struct tp_view_place *place)
{
	size_t n = 0;
	size_t n_advice = view->findings ? view->findings->n_fired : 0;
	place->rows = tp_alloc((TP_N_PARTS + n_advice + 1) * sizeof(*place->rows));
	bool shows_parts = view->digest.is_judgeable || view->digest.is_hang;
	for (size_t i = 0; shows_parts && i < view->digest.n_shown; i++)
		place->rows[n++] = view->digest.order[i];
	for (size_t i = 0; i < n_advice; i++)
		place->rows[n++] = ADVICE_FROM + i;
	place->n_items = place->n_rows = n;
}

static void print_step_line(struct tp_view *view, struct tp_page *page)
{
	const struct tp_stat *time = &view->profile->step_time;
	struct tp_buf text = {0};
	if (time->n && time->mean > 0) {
		tp_buf_printf(&text, "step %s mean, p95 %s", tp_unit_time(time->mean).text,
			      tp_unit_time(time->p95).text);
		struct tp_buf rate = {0};
		tp_report_add_step_rate(&rate, view->profile);
		if (rate.len)
			tp_buf_printf(&text, ", %s", tp_buf_text(&rate));
		tp_buf_release(&rate);
		tp_buf_puts(&text, "; ");
	} else if (view->profile->steps_reason) {
		tp_buf_printf(&text, "No steps: %s; ", view->profile->steps_reason);
	}
	tp_buf_puts(&text, "overhead ");
	tp_report_add_overhead(&text, &view->digest);
	tp_page_column(page, 1);
	tp_page_wrap(page, 1, TP_PAINT_NONE, tp_buf_text(&text), 2);
	tp_buf_release(&text);
}

/* Shows only what happens now; rules are not evaluated for a running program. */
static void print_live_head(struct tp_view *view, struct tp_page *page)
{
	const struct tp_live *live = view->input.live;
	tp_report_live_ranks(page, live, RANKS_MAX);
	tp_report_live_limit(page, &view->digest);
	tp_report_live_steps(page, view->profile);
	tp_report_live_history(page, live);
	if (live->note)
		tp_page_wrap(page, 2, TP_PAINT_WARN, live->note, 1);
	tp_report_live_cost(page, &view->digest, live);
	tp_page_end(page);
}

static void print_head(struct tp_view *view, struct tp_view_place *place, struct tp_page *page)
{
	(void)place;
	struct tp_buf text = {0};
	if (view->input.live) {
		print_live_head(view, page);
		return;
	}
	for (const char *c = tp_report_verdict_title(view->input.report); *c; c++)
		tp_buf_putc(&text, (char)toupper((unsigned char)*c));
	tp_buf_puts(&text, "  ");
	tp_report_add_verdict(&text, view->input.report);
	tp_page_column(page, 1);
	tp_page_wrap(page, 1, TP_PAINT_BOLD, tp_buf_text(&text), 3);
	print_step_line(view, page);
	if (!view->is_plain && view->digest.has_step_line) {
		tp_page_column(page, 1);
		tp_report_print_step_counts(page, view->profile);
	}
	tp_page_end(page);
	tp_buf_release(&text);
}

static void print_part(struct tp_view *view, enum tp_part id, struct tp_page *page)
{
	const struct tp_part_result *part = &view->profile->parts[id];
	bool is_narrow = tp_view_is_narrow(page);
	double ratio = (double)part->time_ns / (double)view->profile->total_ns;
	tp_page_add(page, TP_PAINT_PART + id, tp_part_name(id));
	tp_page_add(page, TP_PAINT_NONE, " ");
	tp_page_column(page, 14);
	tp_page_addf(page, TP_PAINT_NONE, "%s  ",
		     tp_unit_right(tp_unit_scaled(view->digest.scale,
						  (double)part->time_ns / view->digest.divisor),
				   9)
			     .text);
	tp_view_percent(page, ratio);
	tp_page_add(page, TP_PAINT_NONE, is_narrow ? " " : "  ");
	size_t room = tp_page_room(page);
	tp_view_bar(view, page, TP_PAINT_PART + id, ratio, room > 2 ? room - 2 : room);
	tp_page_end(page);
}

static void print_advice(struct tp_view *view, size_t i, struct tp_page *page)
{
	const struct tp_finding *finding = &view->findings->items[i];
	struct tp_buf gain = {0};
	struct tp_buf text = {0};
	if (finding->has_gain)
		tp_report_add_gain(&gain, finding->gain_low, finding->gain_value,
				   finding->gain_high);
	tp_buf_printf(&text, "%2zu  %-13s  ", i + 1, tp_sureness_name(finding->sureness));
	tp_buf_puts(&text, finding->headline ? finding->headline : finding->title);
	tp_page_wrap_with_right(page, 0, tp_buf_text(&text), TP_PAINT_GOOD,
				tp_view_is_narrow(page) ? "" : tp_buf_text(&gain), 1);
	tp_buf_release(&gain);
	tp_buf_release(&text);
}

static void print_row(struct tp_view *view, struct tp_view_place *place, size_t item,
		      struct tp_page *page)
{
	(void)place;
	if (item < TP_N_PARTS)
		print_part(view, (enum tp_part)item, page);
	else
		print_advice(view, item - ADVICE_FROM, page);
}

/* ---- the detail ---- */

/* The largest labels of a part: "next 61 %, handover 16 %". */
static void add_labels(struct tp_buf *out, const struct tp_view *view, enum tp_part part)
{
	bool is_used[TP_N_LABELS] = {false};
	double total = (double)view->profile->total_ns;
	for (int n = 0; n < LABELS_MAX; n++) {
		int best = -1;
		for (int i = 0; i < TP_N_LABELS; i++)
			if (!is_used[i] && tp_label_part((enum tp_label)i) == part &&
			    (best < 0 ||
			     view->profile->label_ns[i] > view->profile->label_ns[best]))
				best = i;
		if (best < 0 || !view->profile->label_ns[best])
			return;
		is_used[best] = true;
		tp_buf_printf(out, "%s%s %s", n ? ", " : "", tp_label_name((enum tp_label)best),
			      tp_unit_percent((double)view->profile->label_ns[best] / total).text);
	}
}

static void print_field(struct tp_page *page, const char *name, const char *text)
{
	if (!*text)
		return;
	tp_page_column(page, 1);
	tp_page_addf(page, TP_PAINT_BOLD, "%s ", name);
	tp_page_wrap(page, 3, TP_PAINT_NONE, text, 3);
}

static void print_lines_of_part(struct tp_view *view, enum tp_part part, struct tp_page *page)
{
	struct tp_buf text = {0};
	size_t n = 0;
	for (size_t i = 0; i < view->profile->n_lines && n < 3; i++) {
		const struct tp_line_result *line = &view->profile->lines[i];
		if (line->part != part)
			continue;
		tp_buf_clear(&text);
		tp_report_add_place(&text, view->trace, line);
		tp_buf_printf(&text, ", %s",
			      tp_unit_percent((double)line->time_ns /
					      (double)view->profile->total_ns)
				      .text);
		print_field(page, n++ ? "     " : "line:", tp_buf_text(&text));
	}
	tp_buf_release(&text);
}

static void print_part_detail(struct tp_view *view, enum tp_part id, struct tp_page *page)
{
	const struct tp_part_result *part = &view->profile->parts[id];
	struct tp_buf text = {0};
	add_labels(&text, view, id);
	print_field(page, "made of:", tp_buf_text(&text));
	tp_buf_clear(&text);
	if (part->hidden_ns)
		tp_buf_printf(&text, "%s more overlapped with other parts",
			      tp_unit_time((double)part->hidden_ns / view->digest.divisor).text);
	print_field(page, "hidden:", tp_buf_text(&text));
	print_lines_of_part(view, id, page);
	tp_buf_release(&text);
	tp_page_column(page, 1);
	tp_page_add(page, TP_PAINT_DIM, "Enter: who spends it, in which functions and lines");
	tp_page_end(page);
}

static void print_detail(struct tp_view *view, struct tp_view_place *place, size_t item,
			 struct tp_page *page)
{
	(void)place;
	if (item < TP_N_PARTS) {
		print_part_detail(view, (enum tp_part)item, page);
		return;
	}
	const struct tp_finding *finding = &view->findings->items[item - ADVICE_FROM];
	if (finding->because)
		print_field(page, "because:", finding->because);
	for (size_t i = 0; i < finding->n_actions && i < 2; i++) {
		print_field(page, i ? "or:" : "do:", finding->actions[i].text);
		if (finding->actions[i].example)
			print_field(page, "   ", finding->actions[i].example);
	}
	tp_page_column(page, 1);
	tp_page_add(page, TP_PAINT_DIM, "Enter: evidence, what others saw, how to prove it wrong");
	tp_page_end(page);
}

static void open_row(struct tp_view *view, struct tp_view_place *place, size_t item)
{
	(void)place;
	struct tp_view_place *next =
		tp_view_push(view, item < TP_N_PARTS ? TP_SCREEN_PART : TP_SCREEN_FINDING);
	if (item < TP_N_PARTS)
		next->selection.part = (enum tp_part)item;
	else
		next->index = item - ADVICE_FROM;
	tp_view_make_rows(view, next);
}

const struct tp_view_screen tp_view_overview = {
	.id = TP_SCREEN_OVERVIEW,
	.name = "overview",
	.title = "Overview",
	.make = make,
	.print_head = print_head,
	.print_row = print_row,
	.print_detail = print_detail,
	.open = open_row,
};
