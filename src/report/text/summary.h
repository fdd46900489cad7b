/* SPDX-License-Identifier: Apache-2.0 */
/* The screen after a run, and the sections that --full adds. */
#ifndef TRAINPROF_SRC_REPORT_TEXT_SUMMARY_H
#define TRAINPROF_SRC_REPORT_TEXT_SUMMARY_H

#include "report/digest/digest.h"
#include "trainprof/report/page.h"

/* Prints the verdict, bars, advice, what is missing, and the next command: fits 24 lines of 80
 * columns. */
void tp_report_summary(struct tp_page *page, const struct tp_report_digest *digest);

/* Prints everything else that is known, section by section. */
void tp_report_details(struct tp_page *page, const struct tp_report_digest *digest);

/* Prints only the bars of the parts, largest first; nothing if they have no basis. */
void tp_report_bars(struct tp_page *page, const struct tp_report_digest *digest);

#endif
