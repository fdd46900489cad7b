/* Names of the figures of GPUs. */
#include "trainprof/model/gpu.h"

static const struct tp_gpu_figure_desc figures[] = {
#define X(id, name, unit, metric, how, other, other_how) {name, unit},
	TP_GPU_FIGURE_MAP(X)
#undef X
};

const struct tp_gpu_figure_desc *tp_gpu_figure_desc(enum tp_gpu_figure figure)
{
	return &figures[figure];
}
