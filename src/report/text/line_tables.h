/* SPDX-License-Identifier: Apache-2.0 */
/* What --full says of lines of Python programs and of the workers of loaders. */
#ifndef TRAINPROF_SRC_REPORT_TEXT_LINE_TABLES_H
#define TRAINPROF_SRC_REPORT_TEXT_LINE_TABLES_H

#include "report/digest/digest.h"
#include "trainprof/report/page.h"

/* Sections of their own; nothing where nothing is known. */
void tp_report_line_tables(struct tp_page *page, const struct tp_report_digest *digest);
/* What is worked on: by those who make batches, then by the main thread. */
void tp_report_function_table(struct tp_page *page, const struct tp_report_digest *digest);
void tp_report_worker_table(struct tp_page *page, const struct tp_report_digest *digest);

#endif
