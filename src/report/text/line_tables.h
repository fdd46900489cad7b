/* SPDX-License-Identifier: Apache-2.0 */
/* Sections of --full about lines of Python programs and about the workers of loaders. */
#ifndef TRAINPROF_SRC_REPORT_TEXT_LINE_TABLES_H
#define TRAINPROF_SRC_REPORT_TEXT_LINE_TABLES_H

#include "report/digest/digest.h"
#include "trainprof/report/page.h"

/* Prints sections of its own; nothing if nothing is known. */
void tp_report_line_tables(struct tp_page *page, const struct tp_report_digest *digest);
/* Prints the work by function: of the threads that make batches, then of the main thread. */
void tp_report_function_table(struct tp_page *page, const struct tp_report_digest *digest);
void tp_report_worker_table(struct tp_page *page, const struct tp_report_digest *digest);

#endif
