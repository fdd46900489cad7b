/* SPDX-License-Identifier: Apache-2.0 */
/* Sums kernels and copies by name, with and without concurrent communication. */
#include "rank_data.h"
#include "rank_names.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Times of one name with (beside) and without (alone) concurrent communication. */
struct kernel_sum {
	uint64_t n_beside;
	uint64_t beside_ns;
	uint64_t n_alone;
	uint64_t alone_ns;
};

/* Names that never ran come last. Names are compared as text, because their ids depend on which
 * file was read first. */
static int kernel_order(const void *a, const void *b, void *analysis)
{
	const struct tp_kernel_result *x = a;
	const struct tp_kernel_result *y = b;
	if (!x->n != !y->n)
		return x->n ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns > y->time_ns ? -1 : 1;
	const struct tp_trace *trace = ((struct tp_rank_analysis *)analysis)->trace;
	return strcmp(tp_trace_string(trace, x->name), tp_trace_string(trace, y->name));
}

static void add_kernel(struct tp_rank_analysis *analysis, struct kernel_sum *sums,
		       const struct tp_device_work *device, const struct tp_op *op)
{
	struct tp_kernel_result *out = &analysis->profile->kernels[op->name];
	uint64_t length_ns = op->end_ns - op->start_ns;
	if (!out->n++) {
		const struct tp_kernel_row *row = tp_rank_kernel_row(analysis, op->name);
		out->name = op->name;
		out->class = (enum tp_op_class)op->class;
		out->row = row->id;
		out->family = row->family;
		out->is_weak = row->is_weak && op->class != TP_OP_COPY;
	}
	out->time_ns += length_ns;
	if (op->class == TP_OP_COMMUNICATION)
		return;
	bool is_beside = tp_intervals_covered(&device->lanes[TP_LABEL_COMMUNICATION_COLLECTIVE],
					      op->start_ns, op->end_ns) > 0;
	struct kernel_sum *sum = &sums[op->name];
	out->overlapped_ns += is_beside ? length_ns : 0;
	sum->n_beside += is_beside;
	sum->beside_ns += is_beside ? length_ns : 0;
	sum->n_alone += !is_beside;
	sum->alone_ns += is_beside ? 0 : length_ns;
}

/* Rows are indexed by name id during the sum; then they are sorted and the empty ones cut. */
double tp_ranks_describe_kernels(struct tp_rank_analysis *analysis)
{
	struct tp_profile *profile = analysis->profile;
	size_t n = analysis->trace->n_strings;
	struct kernel_sum *sums = tp_alloc((n + 1) * sizeof(*sums));
	double added_ns = 0;
	profile->kernels = tp_arena_array(analysis->arena, n, sizeof(*profile->kernels));
	for (size_t d = 0; d < analysis->n_devices; d++) {
		const struct tp_device_work *device = &analysis->devices[d];
		for (size_t i = 0; i < device->n_ops; i++)
			if (tp_op_is_in_window(device, &device->ops[i]))
				add_kernel(analysis, sums, device, &device->ops[i]);
	}
	for (size_t i = 0; i < n; i++) {
		const struct kernel_sum *sum = &sums[i];
		if (!sum->n_alone || !sum->n_beside || !sum->alone_ns)
			continue;
		double alone = (double)sum->alone_ns / (double)sum->n_alone;
		double beside = (double)sum->beside_ns / (double)sum->n_beside;
		profile->kernels[i].slowdown = beside / alone;
		added_ns += (beside - alone) * (double)sum->n_beside;
	}
	free(sums);
	qsort_r(profile->kernels, n, sizeof(*profile->kernels), kernel_order, analysis);
	while (profile->n_kernels < n && profile->kernels[profile->n_kernels].n)
		profile->n_kernels++;
	return added_ns;
}
