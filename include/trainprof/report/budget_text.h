/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the result of budget checks for people and for CI systems, all from one table of
 * results. */
#ifndef TRAINPROF_REPORT_BUDGET_TEXT_H
#define TRAINPROF_REPORT_BUDGET_TEXT_H

#include "trainprof/base/json.h"
#include "trainprof/model/budget_result.h"
#include "trainprof/report/page.h"

void tp_report_budget_text(struct tp_page *page, const struct tp_budget_result *result);
void tp_report_budget_markdown(struct tp_buf *out, const struct tp_budget_result *result);
/* Members of trainprof-check/1.0; `status` is the exit status of the
 * command. */
void tp_report_budget_json(struct tp_json_writer *w, const struct tp_budget_result *result,
			   int status);
/* Workflow commands of GitHub. GitHub shows at most ten of a kind, so the tenth counts the rest. */
void tp_report_budget_github(struct tp_buf *out, const struct tp_budget_result *result);
/* JUnit XML: one case per assertion; undecided ones are skipped. */
void tp_report_budget_junit(struct tp_buf *out, const struct tp_budget_result *result);
/* GitLab's code quality report: an array of issues. */
void tp_report_budget_gitlab(struct tp_json_writer *w, const struct tp_budget_result *result);
/* SARIF 2.1.0, at the lines of the budget. */
void tp_report_budget_sarif(struct tp_json_writer *w, const struct tp_budget_result *result);

#endif
