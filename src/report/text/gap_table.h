/* SPDX-License-Identifier: Apache-2.0 */
/* The section of --full about times in which nothing, or not everything, was recorded. */
#ifndef TRAINPROF_SRC_REPORT_TEXT_GAP_TABLE_H
#define TRAINPROF_SRC_REPORT_TEXT_GAP_TABLE_H

#include "report/digest/digest.h"
#include "trainprof/report/page.h"

/* Times of a cause that get a line each; a last line sums up the rest. */
enum { TP_REPORT_GAPS_OF_CAUSE = 20 };

/* Prints nothing if there are none. Times are those of the clock: stopped time counts. */
void tp_report_gap_table(struct tp_page *page, const struct tp_report_digest *digest);

#endif
