/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the GPU figures. */
#include "trainprof/model/gpu.h"

static const struct tp_gpu_stat_desc stats[] = {
#define X(id, name, unit, metric, how, other, other_how) {name, unit},
	TP_GPU_STAT_MAP(X)
#undef X
};

const struct tp_gpu_stat_desc *tp_gpu_stat_desc(enum tp_gpu_stat figure)
{
	return &stats[figure];
}
