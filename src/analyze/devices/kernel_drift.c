/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detects that the same kernels take longer late in the run than early: falling clocks, memory used
 * by others.
 *
 * For each device the judged steps are split in the middle. Kernels are compared by name, and only
 * if steps of both halves launch them equally often: a name with different counts may have
 * different sizes. The time of the later kernels is compared with what the same number of early
 * ones takes.
 */
#include "analyze/thresholds.h"
#include "rank_data.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include <math.h>
#include <stdlib.h>

struct kernel {
	double n[2]; /* early, late */
	double ns[2];
};

struct drift {
	double late_ns;
	double expected_ns; /* time of the same kernels at the speed of the early half */
	double all_ns;
};

struct kernels {
	struct kernel *items; /* heap */
	size_t n;
	size_t capacity;
	struct tp_map index; /* by name */
};

static struct kernel *kernel_of(struct kernels *kernels, uint32_t name)
{
	uint64_t at;
	if (tp_map_get(&kernels->index, name, &at) && at < kernels->n)
		return &kernels->items[at];
	tp_map_set(&kernels->index, name, kernels->n);
	struct kernel *kernel = &TP_ARRAY_PUSH(kernels->items, kernels->n, kernels->capacity);
	*kernel = (struct kernel){{0}, {0}};
	return kernel;
}

static void compare(struct drift *drift, const struct kernel *kernel, const double n_steps[2])
{
	double early = kernel->n[0] / n_steps[0];
	double late = kernel->n[1] / n_steps[1];
	drift->all_ns += kernel->ns[0] + kernel->ns[1];
	if (early <= 0 || fabs(late - early) > TP_DRIFT_SAME_NUMBER * early)
		return;
	drift->late_ns += kernel->ns[1];
	drift->expected_ns += kernel->ns[0] * kernel->n[1] / kernel->n[0];
}

static void add_device(struct drift *drift, const struct tp_device_work *device)
{
	struct kernels kernels = {0};
	size_t middle = (device->from + device->to) / 2;
	const double n_steps[2] = {(double)(middle - device->from), (double)(device->to - middle)};
	for (size_t i = 0; i < device->n_ops; i++) {
		const struct tp_op *op = &device->ops[i];
		bool is_late = (size_t)op->step >= middle;
		if (op->class != TP_OP_COMPUTE || op->step < 0 || !tp_op_is_in_window(device, op))
			continue;
		struct kernel *kernel = kernel_of(&kernels, op->name);
		kernel->n[is_late] += 1;
		kernel->ns[is_late] += (double)(op->end_ns - op->start_ns);
	}
	for (size_t i = 0; i < kernels.n; i++)
		compare(drift, &kernels.items[i], n_steps);
	tp_map_release(&kernels.index);
	free(kernels.items);
}

void tp_ranks_set_drift(struct tp_rank_analysis *analysis)
{
	struct tp_profile *profile = analysis->profile;
	struct drift drift = {0};
	for (size_t i = 0; i < analysis->n_devices; i++)
		if (analysis->devices[i].to >= analysis->devices[i].from + TP_DRIFT_STEPS_MIN)
			add_device(&drift, &analysis->devices[i]);
	double compared_ns = drift.late_ns + drift.expected_ns;
	if (drift.all_ns <= 0)
		tp_profile_set_missing(profile, TP_FACT_DEVICE_DRIFT,
				       "fewer than twenty steps have kernels that compute");
	else if (drift.expected_ns <= 0 || compared_ns < TP_DRIFT_SPOKEN_FOR * drift.all_ns)
		tp_profile_set_missing(profile, TP_FACT_DEVICE_DRIFT,
				       "early and late steps do not launch the same kernels");
	else
		tp_profile_set(profile, TP_FACT_DEVICE_DRIFT, drift.late_ns / drift.expected_ns - 1,
			       TP_ORIGIN_MEASURED, compared_ns / drift.all_ns);
}
