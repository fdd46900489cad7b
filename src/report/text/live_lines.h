/* SPDX-License-Identifier: Apache-2.0 */
/* Lines about a running program, for the blocks of text and for the viewer's first screen. */
#ifndef TRAINPROF_SRC_REPORT_TEXT_LIVE_LINES_H
#define TRAINPROF_SRC_REPORT_TEXT_LIVE_LINES_H

#include "report/digest/digest.h"
#include "trainprof/report/live.h"
#include "trainprof/report/page.h"

/* "DATALOADER  58 % of each step ..." */
void tp_report_live_limit(struct tp_page *page, const struct tp_report_digest *digest);

/* "20 steps per second, 49.7 ms each, p95 71 ms", or why there are none. */
void tp_report_live_steps(struct tp_page *page, const struct tp_profile *profile);

/* A table of the ranks of a job, those that wait least for others first; nothing if it is none. Has
 * at most `most` rows. */
void tp_report_live_ranks(struct tp_page *page, const struct tp_live *live, size_t most);

/* Step times of earlier intervals, and the last alarm; nothing without a history. */
void tp_report_live_history(struct tp_page *page, const struct tp_live *live);

/* Writes what measuring costs, and the number of lost records. */
void tp_report_live_cost(struct tp_page *page, const struct tp_report_digest *digest,
			 const struct tp_live *live);

#endif
