/* SPDX-License-Identifier: Apache-2.0 */
/* The plan for a run: the steps of its findings (trainprof/model/action_plan.h) as text of at most
 * 80 columns, as Markdown and as JSON (docs/plan.schema.json). All three have the same content. */
#ifndef TRAINPROF_REPORT_PLAN_TEXT_H
#define TRAINPROF_REPORT_PLAN_TEXT_H

#include "trainprof/report/page.h"

#include "trainprof/model/finding.h"

struct tp_json_writer;

/* All borrowed. */
struct tp_report_plan {
	const char *subject;             /* what the facts describe */
	const struct tp_quantity *facts; /* tp_n_facts; unknown ones give a reason */
	const struct tp_findings *findings;
};

void tp_report_plan_text(struct tp_page *page, const struct tp_report_plan *plan);
void tp_report_plan_markdown(struct tp_buf *out, const struct tp_report_plan *plan);
/* trainprof-plan/1.0 */
void tp_report_plan_json(struct tp_json_writer *w, const struct tp_report_plan *plan);

#endif
