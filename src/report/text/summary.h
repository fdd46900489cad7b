/* SPDX-License-Identifier: Apache-2.0 */
/* The screen after a run, and the sections that --full adds. */
#ifndef TRAINPROF_SRC_REPORT_TEXT_SUMMARY_H
#define TRAINPROF_SRC_REPORT_TEXT_SUMMARY_H

#include "report/digest/digest.h"
#include "trainprof/report/page.h"

/* Verdict, bars, advice, what is missing, what to type next: fits 24 lines of 80 columns. */
void tp_report_summary(struct tp_page *page, const struct tp_report_digest *digest);

/* Everything else that is known, section by section. */
void tp_report_details(struct tp_page *page, const struct tp_report_digest *digest);

/* The bars of the parts alone, largest first; nothing when they rest on nothing. */
void tp_report_bars(struct tp_page *page, const struct tp_report_digest *digest);

#endif
