/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the formats of a report. */
#include "trainprof/report/report.h"

#include "report/digest/exporters.h"

#include <string.h>

static const struct tp_exporter *const exporters[] = {
	&tp_report_text, &tp_report_json, &tp_report_markdown, &tp_report_html, NULL,
};

const struct tp_exporter *const *tp_exporter_list(void)
{
	return exporters;
}

const struct tp_exporter *tp_exporter_find(const char *name)
{
	for (size_t i = 0; exporters[i]; i++)
		if (strcmp(exporters[i]->name, name) == 0)
			return exporters[i];
	return NULL;
}
