/* SPDX-License-Identifier: Apache-2.0 */
/* Shortens a report to what comparisons read, so that it is small enough for a repository. */
#ifndef TRAINPROF_REPORT_SHORT_REPORT_H
#define TRAINPROF_REPORT_SHORT_REPORT_H

#include "trainprof/base/json.h"

/* Writes the report without stacks, functions, processes, single steps, sources, and the details of
 * rules that did not fire. It still follows docs/report.schema.json, and comparisons with it give
 * the same result as with the whole report. */
void tp_report_trim(struct tp_json_writer *w, const struct tp_json_doc *report);

#endif
