/* SPDX-License-Identifier: Apache-2.0 */
/* Two runs side by side: how each spends its time, and why a comparison says little. */
#ifndef TRAINPROF_REPORT_SIDE_BY_SIDE_H
#define TRAINPROF_REPORT_SIDE_BY_SIDE_H

#include "trainprof/report/page.h"

#include "trainprof/model/finding.h"

struct tp_json_writer;

/* Borrowed. */
struct tp_report_side {
	const char *subject;
	const struct tp_quantity *facts; /* tp_n_facts */
	const struct tp_findings *findings;
};

struct tp_report_pair {
	struct tp_report_side sides[2];
	const char *const *warnings; /* problems of both runs that weaken the comparison */
	size_t n_warnings;
};

/* True if at least one shown number is known for both. */
bool tp_report_pair_is_known(const struct tp_report_pair *pair);

/* Step, shares and verdict of each, then the warnings. Unknown numbers are shown as unknown. */
void tp_report_pair_text(struct tp_page *page, const struct tp_report_pair *pair);
void tp_report_pair_markdown(struct tp_buf *out, const struct tp_report_pair *pair);
/* trainprof-comparison/1.0 */
void tp_report_pair_json(struct tp_json_writer *w, const struct tp_report_pair *pair);

#endif
