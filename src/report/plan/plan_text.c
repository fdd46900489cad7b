/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a plan. */
#include "trainprof/report/plan_text.h"

#include "plan_fields.h"
#include "report/digest/markdown_escape.h"

static const char *verdict_title(const struct tp_report_plan *plan)
{
	return plan->findings->verdict ? plan->findings->verdict_title : "NO VERDICT";
}

static const char *verdict_sentence(const struct tp_report_plan *plan)
{
	return plan->findings->verdict_sentence ? plan->findings->verdict_sentence
						: "The largest part of a step is not known.";
}

static const char no_steps[] = "No step of this plan would gain enough to be worth the work.";

/* ---- text ---- */

enum { COLUMN_LABEL = 3, COLUMN_TEXT = 11 };

static void print_fields(struct tp_page *page, const struct tp_plan_field *fields, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		tp_page_column(page, COLUMN_LABEL);
		tp_page_add(page, TP_PAINT_BOLD, fields[i].label);
		tp_page_column(page, COLUMN_TEXT);
		tp_page_wrap(page, COLUMN_TEXT, TP_PAINT_NONE, fields[i].text, 0);
	}
}

static void print_head(struct tp_page *page, const struct tp_report_plan *plan)
{
	tp_page_add(page, TP_PAINT_DIM, "Plan for ");
	tp_page_wrap(page, 2, TP_PAINT_DIM, plan->subject, 0);
	tp_page_end(page);
	tp_page_add(page, TP_PAINT_BOLD, verdict_title(plan));
	tp_page_add(page, TP_PAINT_NONE, "  ");
	tp_page_wrap(page, 2, TP_PAINT_NONE, verdict_sentence(plan), 0);
}

void tp_report_plan_text(struct tp_page *page, const struct tp_report_plan *plan)
{
	struct tp_arena arena = {0};
	struct tp_plan_field fields[TP_PLAN_FIELDS_MAX];
	size_t n_steps = plan->findings->action_plan.n_steps;
	print_head(page, plan);
	for (size_t i = 0; i < n_steps; i++) {
		tp_page_end(page);
		tp_page_wrap(page, COLUMN_LABEL, TP_PAINT_BOLD, tp_plan_step_title(&arena, plan, i),
			     0);
		print_fields(page, fields, tp_plan_step_fields(&arena, plan, i, fields));
	}
	tp_page_end(page);
	if (!n_steps)
		tp_page_wrap(page, 0, TP_PAINT_NONE, no_steps, 0);
	print_fields(page, fields, tp_plan_fields(&arena, plan, fields));
	tp_arena_release(&arena);
}

/* ---- Markdown ---- */

static void add_fields(struct tp_buf *out, const struct tp_plan_field *fields, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (fields[i].label[0])
			tp_buf_printf(out, "   - %s: ", fields[i].label);
		else
			tp_buf_puts(out, "     ");
		tp_markdown_add_plain(out, fields[i].text);
		bool goes_on = i + 1 < n && !fields[i + 1].label[0];
		tp_buf_puts(out, goes_on ? "  \n" : "\n");
	}
}

void tp_report_plan_markdown(struct tp_buf *out, const struct tp_report_plan *plan)
{
	struct tp_arena arena = {0};
	struct tp_plan_field fields[TP_PLAN_FIELDS_MAX];
	size_t n_steps = plan->findings->action_plan.n_steps;
	tp_buf_puts(out, "### Plan for ");
	tp_markdown_add_plain(out, plan->subject);
	tp_buf_puts(out, "\n\n**");
	tp_markdown_add_plain(out, verdict_title(plan));
	tp_buf_puts(out, "** ");
	tp_markdown_add_plain(out, verdict_sentence(plan));
	tp_buf_puts(out, "\n\n");
	for (size_t i = 0; i < n_steps; i++) {
		tp_buf_printf(out, "%zu. **", i + 1);
		tp_markdown_add_plain(out, tp_plan_step_summary(plan, i));
		tp_buf_puts(out, "**\n");
		add_fields(out, fields, tp_plan_step_fields(&arena, plan, i, fields));
	}
	if (!n_steps)
		tp_buf_printf(out, "%s\n", no_steps);
	tp_buf_puts(out, "\n");
	size_t n = tp_plan_fields(&arena, plan, fields);
	for (size_t i = 0; i < n; i++) {
		tp_buf_puts(out, fields[i].label[0] ? "- " : "  ");
		tp_markdown_add_plain(out, fields[i].text);
		tp_buf_puts(out, i + 1 < n && !fields[i + 1].label[0] ? "  \n" : "\n");
	}
	tp_arena_release(&arena);
}
