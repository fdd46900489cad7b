/* SPDX-License-Identifier: Apache-2.0 */
/* Limits for what fits next to each other on the screen after a run. */
#ifndef TRAINPROF_SRC_REPORT_TEXT_SCREEN_WIDTH_H
#define TRAINPROF_SRC_REPORT_TEXT_SCREEN_WIDTH_H

#include "trainprof/report/page.h"
#include "trainprof/report/report.h"

#include <stdbool.h>

enum {
	TP_SCREEN_NARROW_BELOW = 64, /* columns: one item per line, short words */
	TP_SCREEN_WIDE_FROM = 110,   /* intervals of shares, hidden time, rule names */
};

static inline bool tp_screen_is_narrow(const struct tp_page *page)
{
	return page->style->width < TP_SCREEN_NARROW_BELOW;
}

static inline bool tp_screen_is_wide(const struct tp_page *page)
{
	return page->style->width >= TP_SCREEN_WIDE_FROM;
}

#endif
