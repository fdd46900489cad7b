/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences about two groups of runs that text and Markdown share. */
#ifndef TRAINPROF_SRC_REPORT_GATE_DIFF_SENTENCES_H
#define TRAINPROF_SRC_REPORT_GATE_DIFF_SENTENCES_H

#include "trainprof/base/buf.h"
#include "trainprof/model/run_diff.h"
#include "trainprof/report/units.h"

/* "SLOWER", "FASTER", "NO DIFFERENCE SEEN", "NOT COMPARABLE", "CANNOT COMPARE". */
const char *tp_diff_title(const struct tp_run_diff *diff);
/* "21.0 ms became 23.1 ms per step: +10 % (+4.2 to +16)." */
void tp_diff_add_sentence(struct tp_buf *out, const struct tp_run_diff *diff);
/* Append the number of runs and steps behind the intervals, and the smallest visible change. */
void tp_diff_add_evidence(struct tp_buf *out, const struct tp_run_diff *diff);
/* "waits6, waits7", or "waits1 and 14 more" */
void tp_diff_add_names(struct tp_buf *out, const struct tp_run_values *const *runs, size_t n);

/* One row of the table: cells as text. */
struct tp_diff_row {
	const char *name;
	struct tp_unit_text base, now, difference;
	struct tp_unit_text interval; /* "(+0.9 to +3.3)"; "" when unknown */
	bool is_sure;
};

/* The step first, then the parts in the order of the base; returns how many, at most 1 + parts. */
size_t tp_diff_rows(struct tp_diff_row rows[1 + TP_N_PARTS], const struct tp_run_diff *diff);

/* Append one line. */
void tp_diff_add_difference(struct tp_buf *out, const struct tp_unlike *unlike);
void tp_diff_add_item(struct tp_buf *out, const struct tp_diff_item *item);
void tp_diff_add_gain(struct tp_buf *out, const struct tp_run_diff *diff,
		      const struct tp_promise *promise);
/* "Gate: fails, it is slower by more than 3 %." A reason that the sentence gives is not repeated.
 */
void tp_diff_add_verdict(struct tp_buf *out, const struct tp_run_diff *diff);

#endif
