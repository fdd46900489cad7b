/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the export formats for other programs. */
#include "trainprof/report/export.h"

#include "formats.h"

#include <string.h>

static const struct tp_export_format *const formats[] = {
	&tp_export_collapsed, &tp_export_speedscope,  &tp_export_pprof,     &tp_export_chrome,
	&tp_export_perfetto,  &tp_export_csv_parts,   &tp_export_csv_steps, &tp_export_csv_stacks,
	&tp_export_csv_facts, &tp_export_openmetrics, &tp_export_otlp,      &tp_export_tensorboard,
	&tp_export_mlflow,    &tp_export_wandb,       &tp_export_firefox,   NULL,
};

const struct tp_export_format *const *tp_export_list(void)
{
	return formats;
}

const struct tp_export_format *tp_export_find(const char *name)
{
	for (size_t i = 0; formats[i]; i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}
