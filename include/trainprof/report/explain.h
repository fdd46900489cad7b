/* SPDX-License-Identifier: Apache-2.0 */
/* One finding with all evidence for and against it. */
#ifndef TRAINPROF_REPORT_EXPLAIN_H
#define TRAINPROF_REPORT_EXPLAIN_H

#include "trainprof/report/page.h"
#include "trainprof/report/report.h"

/* Conditions with value, interval, threshold and origin; actions, gain, price, how to verify and
 * how to disprove it; the rule's file and sources. */
void tp_report_explain(struct tp_page *page, const struct tp_report *report,
		       const struct tp_finding *finding);

/* One line: state, rule, title. */
void tp_report_explain_line(struct tp_page *page, const struct tp_finding *finding);

/* A fact of the run: value, interval, unit, meaning, or why it is unknown. */
void tp_report_explain_fact(struct tp_page *page, const struct tp_report *report, tp_fact_id fact);

#endif
