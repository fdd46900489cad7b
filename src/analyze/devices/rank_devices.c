/* SPDX-License-Identifier: Apache-2.0 */
/* Describes each device: all its work, the gaps in it, and the judged windows. */
#include "analyze/thresholds.h"
#include "rank_data.h"

#include <stdlib.h>

/* ---- from the first operation to the last ---- */

static void lane_of_class(const struct tp_device_work *device, enum tp_op_class class,
			  struct tp_intervals *out)
{
	for (size_t i = 0; i < device->n_ops; i++)
		if (device->ops[i].class == class)
			tp_intervals_add(out, device->ops[i].start_ns, device->ops[i].end_ns);
	tp_intervals_merge(out);
}

struct overlap {
	struct tp_device_result *out;
};

static void add_overlap(void *context, const struct tp_lane_slice *piece)
{
	struct tp_device_result *out = ((struct overlap *)context)->out;
	uint64_t length_ns = piece->end_ns - piece->start_ns;
	bool computes = piece->active >> TP_OP_COMPUTE & 1;
	bool communicates = piece->active >> TP_OP_COMMUNICATION & 1;
	bool copies = piece->active >> TP_OP_COPY & 1;
	out->busy_ns += piece->active ? length_ns : 0;
	out->exposed_communication_ns += communicates && !computes ? length_ns : 0;
	out->exposed_copy_ns += copies && !computes && !communicates ? length_ns : 0;
	out->overlap_ns += computes && communicates ? length_ns : 0;
}

static void describe_all_work(const struct tp_rank_analysis *analysis,
			      const struct tp_device_work *device, struct tp_device_result *out)
{
	static const enum tp_part parts[TP_N_OP_CLASSES] = {TP_PART_COMPUTE, TP_PART_COMMUNICATION,
							    TP_PART_MEMORY};
	struct tp_intervals lists[TP_N_OP_CLASSES] = {0};
	struct tp_lane lanes[TP_N_OP_CLASSES];
	struct tp_interval all = {UINT64_MAX, 0};
	for (size_t i = 0; i < device->n_ops; i++) {
		const struct tp_op *op = &device->ops[i];
		out->n_ops[op->class]++;
		out->n_unlinked += !op->is_linked;
		all.start_ns = op->start_ns < all.start_ns ? op->start_ns : all.start_ns;
		all.end_ns = op->end_ns > all.end_ns ? op->end_ns : all.end_ns;
	}
	if (all.end_ns <= all.start_ns)
		return;
	out->span_ns = all.end_ns - all.start_ns -
		       tp_intervals_covered(&analysis->untraced, all.start_ns, all.end_ns);
	for (int i = 0; i < TP_N_OP_CLASSES; i++) {
		lane_of_class(device, (enum tp_op_class)i, &lists[i]);
		out->union_ns[i] = tp_intervals_sum(&lists[i]);
		lanes[i] = (struct tp_lane){parts[i], false, lists[i].items, lists[i].n};
	}
	struct overlap overlap = {out};
	tp_lanes_sweep(lanes, TP_N_OP_CLASSES, &all, 1, add_overlap, &overlap);
	for (int i = 0; i < TP_N_OP_CLASSES; i++)
		free(lists[i].items);
}

/* ---- gaps ---- */

/* Cause of a gap from the host's activity before the launch. */
static enum tp_gap_cause host_cause(const struct tp_rank_work *rank, uint64_t from_ns,
				    uint64_t to_ns)
{
	double length = (double)(to_ns - from_ns);
	if ((double)tp_intervals_covered(&rank->lanes[TP_LABEL_DATALOADER_NEXT], from_ns, to_ns) >
		    TP_GAP_LOADER_MIN * length ||
	    (double)tp_intervals_covered(&rank->host.loads, from_ns, to_ns) >
		    TP_GAP_LOADER_MIN * length)
		return TP_GAP_DATALOADER;
	if ((double)tp_intervals_covered(&rank->lanes[TP_LABEL_MEMORY_ALLOC], from_ns, to_ns) >
	    TP_GAP_ALLOC_MIN * length)
		return TP_GAP_ALLOC;
	/* The wait ended together with the device's work: only its end lies in the gap. */
	if (tp_intervals_covered(&rank->lanes[TP_LABEL_HOST_SYNC], from_ns > 1 ? from_ns - 1 : 0,
				 from_ns + 1))
		return TP_GAP_SYNC;
	if ((double)tp_intervals_covered(&rank->lanes[TP_LABEL_HOST_LAUNCH], from_ns, to_ns) >
	    TP_GAP_CALLS_MIN * length)
		return TP_GAP_CALLS;
	return TP_GAP_HOST;
}

static enum tp_gap_cause gap_cause(const struct tp_rank_work *rank, const struct tp_op *next,
				   uint64_t from_ns)
{
	if (!next->is_linked)
		return TP_GAP_UNKNOWN;
	if (next->launch_end_ns <= from_ns)
		return next->start_ns - from_ns < TP_LATENCY_NS ? TP_GAP_LATENCY
								: TP_GAP_DEPENDENCY;
	if (next->launch_start_ns <= from_ns)
		return TP_GAP_LAUNCH;
	uint64_t to_ns =
		next->launch_start_ns < next->start_ns ? next->launch_start_ns : next->start_ns;
	return host_cause(rank, from_ns, to_ns);
}

/* Time that was not traced does not count as a gap. */
static void describe_gaps(const struct tp_rank_analysis *analysis,
			  const struct tp_device_work *device, struct tp_device_result *out)
{
	const struct tp_rank_work *rank = &analysis->ranks[device->rank];
	const struct tp_intervals judged = tp_device_judged(device);
	uint64_t reach_ns = device->n_ops ? device->ops[0].end_ns : 0;
	for (size_t i = 1; i < device->n_ops; i++) {
		const struct tp_op *op = &device->ops[i];
		uint64_t judged_ns = op->start_ns > reach_ns
					     ? tp_intervals_covered(&judged, reach_ns, op->start_ns)
					     : 0;
		if (judged_ns && !tp_intervals_covered(&analysis->untraced, reach_ns, op->start_ns))
			out->gap_ns[gap_cause(rank, op, reach_ns)] += judged_ns;
		reach_ns = op->end_ns > reach_ns ? op->end_ns : reach_ns;
	}
}

/* ---- the judged windows ---- */

static void describe_windows(const struct tp_device_work *device, struct tp_device_result *out)
{
	for (size_t i = device->from; i < device->to; i++) {
		out->window_ns += device->windows[i].end_ns - device->windows[i].start_ns;
		for (int label = 0; label < TP_N_LABELS; label++) {
			enum tp_part part = tp_label_part((enum tp_label)label);
			out->own_ns[part] += device->own_ns[i][label];
			out->after_ns[part] += device->after_ns[i][label];
		}
		out->not_captured_ns += device->after_ns[i][TP_LABEL_COMMUNICATION_UNCAPTURED];
	}
	out->wait_caused_ns = device->wait_caused_ns;
	out->n_steps = device->n_steps;
	out->ops_per_step = device->ops_per_step;
	out->step_ns = device->step_ns;
}

static void describe_segments(const struct tp_rank_analysis *analysis,
			      const struct tp_device_work *device, struct tp_device_result *out)
{
	struct tp_device_piece *pieces =
		tp_arena_array(analysis->arena, device->n_pieces, sizeof(*pieces));
	for (size_t i = 0; i < device->n_pieces; i++)
		pieces[i] =
			(struct tp_device_piece){device->pieces[i].start_ns,
						 device->pieces[i].end_ns, device->pieces[i].label};
	out->pieces = pieces;
	out->n_pieces = device->n_pieces;
}

void tp_ranks_describe_devices(struct tp_rank_analysis *analysis)
{
	struct tp_profile *profile = analysis->profile;
	profile->devices =
		tp_arena_array(analysis->arena, analysis->n_devices, sizeof(*profile->devices));
	profile->n_devices = analysis->n_devices;
	for (size_t i = 0; i < analysis->n_devices; i++) {
		const struct tp_device_work *device = &analysis->devices[i];
		struct tp_device_result *out = &profile->devices[i];
		out->rank = device->rank;
		out->number = device->number;
		describe_all_work(analysis, device, out);
		describe_gaps(analysis, device, out);
		describe_windows(device, out);
		describe_segments(analysis, device, out);
	}
}
