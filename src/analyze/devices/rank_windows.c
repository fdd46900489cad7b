/* SPDX-License-Identifier: Apache-2.0 */
/* Sets the windows of devices from the steps of their ranks: work of a step that ends after the
 * step's marks belongs to that step. */
#include "analyze/thresholds.h"
#include "rank_data.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"

#include <stdlib.h>
#include <string.h>

/* Returns the step that contains the whole launching call. */
static int32_t step_of(const struct tp_intervals *steps, const struct tp_op *op)
{
	size_t at;
	TP_FIND_FIRST(at, 0, steps->n, steps->items[at].start_ns > op->launch_start_ns);
	if (!op->is_linked || !at || op->launch_end_ns > steps->items[at - 1].end_ns)
		return TP_NO_STEP;
	return (int32_t)(at - 1);
}

/* Work that was launched before the first step may still run when that step begins; it does not
 * belong to the step. */
static uint64_t first_border(const struct tp_device_work *device, uint64_t start_ns)
{
	uint64_t first_op_ns = UINT64_MAX;
	for (size_t i = 0; i < device->n_ops; i++)
		if (device->ops[i].step == 0 && device->ops[i].start_ns < first_op_ns)
			first_op_ns = device->ops[i].start_ns;
	if (first_op_ns == UINT64_MAX)
		return start_ns;
	uint64_t border_ns = start_ns;
	for (size_t i = 0; i < device->n_ops; i++)
		if (device->ops[i].step == TP_NO_STEP && device->ops[i].end_ns <= first_op_ns &&
		    device->ops[i].end_ns > border_ns)
			border_ns = device->ops[i].end_ns;
	return border_ns;
}

static void windows_of_steps(struct tp_device_work *device, const struct tp_intervals *steps)
{
	device->windows = tp_alloc(steps->n * sizeof(*device->windows));
	device->n_windows = steps->n;
	for (size_t i = 0; i < steps->n; i++)
		device->windows[i].end_ns = steps->items[i].end_ns;
	for (size_t i = 0; i < device->n_ops; i++) {
		struct tp_op *op = &device->ops[i];
		op->step = step_of(steps, op);
		if (op->step != TP_NO_STEP && op->end_ns > device->windows[op->step].end_ns)
			device->windows[op->step].end_ns = op->end_ns;
	}
	uint64_t before_ns = first_border(device, steps->items[0].start_ns);
	for (size_t i = 0; i < steps->n; i++) {
		struct tp_interval *window = &device->windows[i];
		uint64_t start_ns = steps->items[i].start_ns;
		window->start_ns = start_ns > before_ns ? start_ns : before_ns;
		if (window->end_ns < window->start_ns)
			window->end_ns = window->start_ns;
		before_ns = window->end_ns;
	}
}

/* Slices replace steps if there are none, so that shares still get an interval. */
static void slice(struct tp_device_work *device, const struct tp_interval *all)
{
	enum { N_SLICES = 50 };
	uint64_t length_ns = all->end_ns - all->start_ns;
	device->windows = tp_alloc(N_SLICES * sizeof(*device->windows));
	for (uint64_t i = 0; i < N_SLICES; i++) {
		uint64_t from = all->start_ns + length_ns / N_SLICES * i;
		uint64_t to = i + 1 < N_SLICES ? from + length_ns / N_SLICES : all->end_ns;
		if (to > from)
			device->windows[device->n_windows++] = (struct tp_interval){from, to};
	}
	device->to = device->n_windows;
}

/* Without steps: the whole recorded time of the device, or of the threads if it has no work. */
static void window_of_all(struct tp_device_work *device, const struct tp_rank_work *rank)
{
	struct tp_interval all = {rank->first_ns, rank->last_ns};
	if (device->n_ops) {
		all = (struct tp_interval){device->ops[0].start_ns, 0};
		for (size_t i = 0; i < device->n_ops; i++)
			if (device->ops[i].end_ns > all.end_ns)
				all.end_ns = device->ops[i].end_ns;
	}
	if (all.end_ns > all.start_ns)
		slice(device, &all);
}

static int count_order(const void *a, const void *b)
{
	size_t x = *(const size_t *)a;
	size_t y = *(const size_t *)b;
	return (x > y) - (x < y);
}

/* A first or last step with less than 0.8 of the usual work is incomplete. */
static void exclude_cut_steps(struct tp_device_work *device)
{
	size_t n = device->n_windows;
	size_t *counts = tp_alloc(2 * n * sizeof(*counts));
	for (size_t i = 0; i < device->n_ops; i++)
		if (device->ops[i].step != TP_NO_STEP)
			counts[device->ops[i].step]++;
	memcpy(counts + n, counts, n * sizeof(*counts));
	qsort(counts + n, n, sizeof(*counts), count_order);
	size_t middle = n / 2;
	double least = TP_CUT_STEP_MAX * (double)counts[n + middle];
	device->from = n >= TP_CUT_STEPS_MIN && (double)counts[0] < least;
	device->to = n - (n >= TP_CUT_STEPS_MIN && (double)counts[n - 1] < least);
	free(counts);
}

static void count_steps(struct tp_device_work *device, const struct tp_intervals *steps,
			struct tp_arena *arena)
{
	device->n_steps = steps->n;
	device->ops_per_step = tp_arena_array(arena, steps->n, sizeof(*device->ops_per_step));
	device->step_ns = tp_arena_array(arena, steps->n, sizeof(*device->step_ns));
	for (size_t i = 0; i < device->n_ops; i++)
		if (device->ops[i].step >= 0)
			device->ops_per_step[device->ops[i].step]++;
	for (size_t i = 0; i < steps->n; i++)
		device->step_ns[i] = steps->items[i].end_ns - steps->items[i].start_ns;
}

/* A rank without steps has no windows if other ranks have steps: slices are not comparable to
 * steps. */
void tp_ranks_find_windows(struct tp_rank_analysis *analysis)
{
	bool has_steps = false;
	for (size_t i = 0; i < analysis->n_ranks; i++)
		has_steps |= analysis->ranks[i].steps.n > 0;
	for (size_t i = 0; i < analysis->n_devices; i++) {
		struct tp_device_work *device = &analysis->devices[i];
		const struct tp_rank_work *rank = &analysis->ranks[device->rank];
		if (rank->steps.n) {
			windows_of_steps(device, &rank->steps);
			count_steps(device, &rank->steps, analysis->arena);
			exclude_cut_steps(device);
		} else if (!has_steps) {
			window_of_all(device, rank);
		}
	}
}
