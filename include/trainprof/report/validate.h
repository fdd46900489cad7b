/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a JSON Schema cannot express about a report: sums, and reasons for missing values. */
#ifndef TRAINPROF_REPORT_VALIDATE_H
#define TRAINPROF_REPORT_VALIDATE_H

#include "trainprof/base/buf.h"
#include "trainprof/base/json.h"

#include <stddef.h>

/* Checks a report document and appends one line per problem to `problems`: "report.json:120: parts
 * sum to 41, total_ns is 42". Returns the number of problems. */
size_t tp_report_validate(const struct tp_json_doc *doc, struct tp_buf *problems);

#endif
