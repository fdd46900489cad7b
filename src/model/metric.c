/* SPDX-License-Identifier: Apache-2.0 */
/* The table of metrics. */
#include "trainprof/model/metric.h"

#include <string.h>

static const struct tp_metric_desc metrics[] = {
#define X(id, name, unit, kind, subject)                                                           \
	{name, unit, TP_METRIC_KIND_##kind, TP_METRIC_OF_##subject},
	TP_METRIC_MAP(X)
#undef X
};

const struct tp_metric_desc *tp_metric_desc(enum tp_metric metric)
{
	return &metrics[metric];
}

enum tp_metric tp_metric_find(const char *name)
{
	unsigned i = 0;
	while (i < TP_N_METRICS && strcmp(metrics[i].name, name) != 0)
		i++;
	return (enum tp_metric)i;
}
