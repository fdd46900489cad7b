/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the differences between runs, for people and for programs. */
#ifndef TRAINPROF_REPORT_DIFF_TEXT_H
#define TRAINPROF_REPORT_DIFF_TEXT_H

#include "trainprof/base/json.h"
#include "trainprof/model/run_diff.h"
#include "trainprof/report/page.h"

void tp_report_diff_text(struct tp_page *page, const struct tp_run_diff *diff);
void tp_report_diff_markdown(struct tp_buf *out, const struct tp_run_diff *diff);
/* trainprof-diff/1.0: docs/diff.schema.json */
void tp_report_diff_json(struct tp_json_writer *w, const struct tp_run_diff *diff);

#endif
