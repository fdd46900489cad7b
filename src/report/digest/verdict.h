/* SPDX-License-Identifier: Apache-2.0 */
/* The bottleneck of a run as a word, a title and a sentence. */
#ifndef TRAINPROF_SRC_REPORT_DIGEST_VERDICT_H
#define TRAINPROF_SRC_REPORT_DIGEST_VERDICT_H

#include "trainprof/base/buf.h"
#include "trainprof/report/report.h"

/* "dataloader_bound"; "none" without a verdict. Static storage, or the findings'. */
const char *tp_report_verdict_id(const struct tp_report *report);
/* "waiting_for_data", a row of model/verdict_words.h; NULL if there is none. */
const char *tp_report_verdict_cause(const struct tp_report *report);
/* "WAITING FOR DATA". */
const char *tp_report_verdict_title(const struct tp_report *report);
/* Append a sentence: the verdict of the rules, or the reason why they have none. */
void tp_report_add_verdict(struct tp_buf *out, const struct tp_report *report);

/* The same from the parts alone, if no rule was evaluated: "Waiting for data takes 39 % of each
 * step; compute takes 32 %." Needs a total above 0. */
void tp_report_add_limit(struct tp_buf *out, const struct tp_profile *profile, enum tp_part limit);

/* True if a trace shows first calls alone: that nothing else is to be gained is not known. */
bool tp_report_is_start_up(const struct tp_findings *findings);

/* True if the verdict is that the capture is too short: its parts are not shown then. */
bool tp_report_capture_is_short(const struct tp_findings *findings);

#endif
