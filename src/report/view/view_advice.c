/* SPDX-License-Identifier: Apache-2.0 */
/* Shows advice, the combined gain, and the evidence of each rule. */
#include "view_state.h"

#include "report/digest/gain_text.h"
#include "report/digest/source_lines.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/report/explain.h"

#include <string.h>

static void make(struct tp_view *view, struct tp_view_place *place)
{
	if (!view->findings)
		return;
	place->n_items = place->mode ? view->findings->n_items : view->findings->n_fired;
}

/* ---- head: the selected advice ---- */

static size_t count_selected(const struct tp_view *view)
{
	size_t n = 0;
	for (size_t i = 0; i < view->findings->n_fired; i++)
		n += view->is_chosen[i];
	return n;
}

static void add_combined(struct tp_buf *out, struct tp_view *view)
{
	const struct tp_findings *findings = view->findings;
	size_t n = count_selected(view);
	double low = findings->combined_low;
	double value = findings->combined_value;
	double high = findings->combined_high;
	bool is_known = findings->has_combined && n == findings->n_fired;
	if (n < findings->n_fired && view->input.combine)
		is_known = view->input.combine(view->input.context, view->is_chosen, &low, &value,
					       &high);
	tp_buf_printf(out, "%zu of %zu together: ", n, findings->n_fired);
	if (!n)
		tp_buf_puts(out, "nothing is chosen");
	else if (is_known)
		tp_report_add_gain_range(out, low, value, high);
	else
		tp_buf_puts(out, "not known");
	if (n == findings->n_fired)
		tp_report_add_next_limit(out, findings);
}

static void print_head(struct tp_view *view, struct tp_view_place *place, struct tp_page *page)
{
	struct tp_buf text = {0};
	(void)place;
	if (!view->findings)
		tp_buf_printf(&text, "No rules could be applied: %s",
			      view->input.report->no_findings_because
				      ? view->input.report->no_findings_because
				      : "none were found");
	else if (!view->findings->n_fired)
		tp_buf_puts(&text, "No advice for this run; a shows all rules, and why each is "
				   "silent.");
	else
		add_combined(&text, view);
	tp_page_column(page, 1);
	tp_page_wrap(page, 1, TP_PAINT_NONE, tp_buf_text(&text), 2);
	tp_buf_release(&text);
}

/* ---- rows ---- */

static const char *state_of(const struct tp_finding *finding, bool is_advice)
{
	if (is_advice)
		return tp_sureness_name(finding->sureness);
	return finding->suppressed ? "not shown" : tp_finding_state_name(finding->state);
}

static void print_row(struct tp_view *view, struct tp_view_place *place, size_t item,
		      struct tp_page *page)
{
	const struct tp_finding *finding = &view->findings->items[item];
	bool is_advice = item < view->findings->n_fired;
	struct tp_buf text = {0};
	struct tp_buf gain = {0};
	(void)place;
	if (is_advice)
		tp_buf_printf(&text, "[%c] %zu  ", view->is_chosen[item] ? 'x' : ' ', item + 1);
	tp_buf_printf(&text, "%-13s  ", state_of(finding, is_advice));
	if (is_advice)
		tp_buf_puts(&text, finding->headline ? finding->headline : finding->title);
	else
		tp_buf_printf(&text, "%s  %s", finding->rule, finding->title);
	if (is_advice && finding->has_gain && !tp_view_is_narrow(page))
		tp_report_add_gain(&gain, finding->gain_low, finding->gain_value,
				   finding->gain_high);
	tp_page_wrap_with_right(page, 0, tp_buf_text(&text), TP_PAINT_GOOD, tp_buf_text(&gain), 1);
	tp_buf_release(&text);
	tp_buf_release(&gain);
}

static void print_detail(struct tp_view *view, struct tp_view_place *place, size_t item,
			 struct tp_page *page)
{
	const struct tp_finding *finding = &view->findings->items[item];
	(void)place;
	tp_report_explain(page, view->input.report, finding);
}

static void open_row(struct tp_view *view, struct tp_view_place *place, size_t item)
{
	(void)place;
	tp_view_push(view, TP_SCREEN_FINDING)->index = item;
	tp_view_make_rows(view, tp_view_top_place(view));
}

const struct tp_view_screen tp_view_advice = {
	.id = TP_SCREEN_ADVICE,
	.name = "advice",
	.title = "Advice",
	.make = make,
	.print_head = print_head,
	.print_row = print_row,
	.print_detail = print_detail,
	.open = open_row,
};

/* ---- one finding ---- */

static void print_finding(struct tp_view *view, struct tp_view_place *place, struct tp_page *page)
{
	tp_report_explain(page, view->input.report, &view->findings->items[place->index]);
}

/* Opens the part of the step that the evidence is about. */
static void open_finding(struct tp_view *view, struct tp_view_place *place, size_t item)
{
	const struct tp_finding *finding = &view->findings->items[place->index];
	enum tp_part part = tp_report_evidence_part(finding);
	(void)item;
	if (part == TP_N_PARTS) {
		tp_view_show_message(view, "This rule speaks of no single part of the step.");
		return;
	}
	tp_view_push(view, TP_SCREEN_PART)->selection.part = part;
	tp_view_make_rows(view, tp_view_top_place(view));
}

const struct tp_view_screen tp_view_finding = {
	.id = TP_SCREEN_FINDING,
	.name = "evidence",
	.print_text = print_finding,
	.open = open_finding,
};
