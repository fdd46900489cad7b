/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the sources that can be measured here. */
#include "source_list.h"

#include "trainprof/collect/collector.h"

#include <string.h>

enum { COLUMN_NAME = 8, COLUMN_TEXT = 21, COLUMN_INDENT = 10, COLUMN_ADVICE = 21 };

enum tp_mark_word tp_source_list_mark(const struct tp_plan_row *row)
{
	switch (row->availability.presence) {
	case TP_PRESENCE_PRESENT:
		return TP_MARK_WORD_OK;
	case TP_PRESENCE_DEGRADED:
	case TP_PRESENCE_NO_PERMISSION:
	case TP_PRESENCE_IN_USE:
		return row->is_required ? TP_MARK_WORD_FAIL : TP_MARK_WORD_WARN;
	case TP_PRESENCE_NOT_BUILT:
	case TP_PRESENCE_NO_LIBRARY:
	case TP_PRESENCE_NO_DEVICE:
	case TP_PRESENCE_OFF:
	case TP_N_PRESENCES:
		break;
	}
	if (row->is_required)
		return TP_MARK_WORD_FAIL;
	return row->availability.remedy[0] ? TP_MARK_WORD_WARN : TP_MARK_WORD_NONE;
}

const char *tp_source_list_gains(const struct tp_plan_row *row)
{
	/* A degraded source ("user space only") has stacks and switches already. */
	return row->availability.presence == TP_PRESENCE_DEGRADED ? NULL : row->type->gains;
}

static const char *mark_name(enum tp_mark_word mark)
{
	static const char *const names[] = {"ok", "WARN", "FAIL", "----"};
	return names[mark];
}

static void print_advice(struct tp_page *page, const char *name, const char *text)
{
	if (!text || !*text)
		return;
	tp_page_column(page, COLUMN_INDENT);
	tp_page_add(page, TP_PAINT_DIM, name);
	tp_page_add(page, TP_PAINT_NONE, " ");
	tp_page_column(page, COLUMN_ADVICE);
	tp_page_wrap(page, COLUMN_ADVICE, TP_PAINT_NONE, text, 0);
}

void tp_source_list_row(struct tp_page *page, enum tp_mark_word mark, const char *name,
			const char *text, const char *gains, const char *next)
{
	static const enum tp_paint paints[] = {TP_PAINT_GOOD, TP_PAINT_WARN, TP_PAINT_BAD,
					       TP_PAINT_DIM};
	tp_page_column(page, 2);
	tp_page_add(page, paints[mark], mark_name(mark));
	tp_page_column(page, COLUMN_NAME);
	tp_page_addf(page, TP_PAINT_BOLD, "%s ", name);
	tp_page_column(page, COLUMN_TEXT);
	tp_page_wrap(page, COLUMN_TEXT, TP_PAINT_NONE, text, 0);
	/* A source that is available or impossible here has nothing to gain. */
	if (mark == TP_MARK_WORD_OK || mark == TP_MARK_WORD_NONE)
		return;
	print_advice(page, "adds", gains);
	print_advice(page, "next", next);
}

const char *tp_source_list_tier(enum tp_tier tier)
{
	static const char *const words[] = {"Ready: all that a diagnosis needs can be measured",
					    "Ready, with less detail", "Ready, with little detail",
					    "Ready, with very little detail"};
	return words[(unsigned)tier < TP_N_TIERS ? tier : TP_TIER_BARE];
}

void tp_source_list_print(struct tp_page *page, const struct tp_plan *plan)
{
	for (size_t i = 0; i < tp_plan_count(plan); i++) {
		const struct tp_plan_row *row = tp_plan_row(plan, i);
		struct tp_buf text = {0};
		tp_buf_puts(&text, row->type->summary);
		if (row->availability.reason[0])
			tp_buf_printf(&text, ": %s", row->availability.reason);
		else if (row->availability.presence != TP_PRESENCE_PRESENT)
			tp_buf_printf(&text, ": %s",
				      tp_source_state_text(row->availability.presence));
		tp_source_list_row(page, tp_source_list_mark(row), row->type->name,
				   tp_buf_text(&text), tp_source_list_gains(row),
				   row->availability.remedy);
		tp_buf_release(&text);
	}
	tp_page_addf(page, TP_PAINT_NONE, "  %s", tp_source_list_tier(tp_plan_tier(plan)));
	tp_page_end(page);
}
