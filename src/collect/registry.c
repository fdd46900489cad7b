/* SPDX-License-Identifier: Apache-2.0 */
/* The list of all sources, in the order in which they sample: sources that update the tree come
 * first. */
#include "registry.h"

#include "trainprof/collect/collector.h"

#include <stddef.h>

/* clang-format off */
static const struct tp_collector_type *const types[] = {
	&tp_perf_collector, /* first: it knows which threads exist */
	&tp_python_collector,
	&tp_watch_collector,
	&tp_marks_collector,
	&tp_offcpu_collector,
	&tp_pmu_collector,
	&tp_host_collector,
	&tp_nvml_collector,
	&tp_cupti_collector,
	&tp_gpu_counters_collector,
	&tp_self_collector,
	NULL,
};
/* clang-format on */

const struct tp_collector_type *const *tp_collector_types(void)
{
	return types;
}
