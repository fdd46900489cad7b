/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the point at which the history of a baseline became slower. */
#ifndef TRAINPROF_REPORT_HISTORY_TEXT_H
#define TRAINPROF_REPORT_HISTORY_TEXT_H

#include "trainprof/base/json.h"
#include "trainprof/model/run_history.h"
#include "trainprof/report/page.h"

void tp_report_history_text(struct tp_page *page, const struct tp_history_result *result);
void tp_report_history_markdown(struct tp_buf *out, const struct tp_history_result *result);
/* trainprof-history/1.0; `status` is the exit status of the command. */
void tp_report_history_json(struct tp_json_writer *w, const struct tp_history_result *result,
			    int status);

#endif
