/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON Schema of the report, the content of docs/report.schema.json. */
#include "trainprof/report/report.h"

static const char schema[] = {
#include "report.schema.inc"
	0,
};

const char *tp_report_schema(void)
{
	return schema;
}
