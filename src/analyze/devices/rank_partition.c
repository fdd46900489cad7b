/* SPDX-License-Identifier: Apache-2.0 */
/* Partitions each device's windows exactly: by the activity of the device, otherwise of its rank's
 * threads. */
#include "rank_data.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* A lane is of the device, or of the threads of its rank, or of the main thread from samples and
 * switches. */
struct rank_lane {
	enum tp_label label; /* TP_N_LABELS = each segment has its own */
	bool is_of_device;
};

/* In order of priority (docs/design/ranks.md#parts-of-imported-traces). */
static const struct rank_lane with_device[] = {
	{TP_LABEL_COMPUTE_MATH, true},
	{TP_LABEL_COMMUNICATION_COLLECTIVE, true},
	{TP_LABEL_MEMORY_H2D, true},
	{TP_LABEL_MEMORY_D2H, true},
	{TP_LABEL_MEMORY_D2D, true},
	{TP_LABEL_MEMORY_P2P, true},
	{TP_LABEL_MEMORY_COPY, true},
	{TP_LABEL_MEMORY_SET, true},
	{TP_LABEL_DATALOADER_NEXT, false},
	{TP_LABEL_MEMORY_ALLOC, false},
	{TP_LABEL_COMMUNICATION_COLLECTIVE, false},
	{TP_LABEL_HOST_CHECKPOINT, false},
	{TP_LABEL_HOST_LOGGING, false},
	{TP_LABEL_HOST_GC, false},
	{TP_LABEL_HOST_COMPILE, false},
	{TP_LABEL_HOST_SYNC, false},
	{TP_LABEL_HOST_LAUNCH, false},
	{TP_LABEL_HOST_DISPATCH, false},
	{TP_N_LABELS, false},
	{TP_LABEL_HOST_INTERPRETER, false},
	{TP_LABEL_HOST_OTHER, false},
};

static const struct rank_lane without_device[] = {
	{TP_LABEL_DATALOADER_NEXT, false},
	{TP_LABEL_COMMUNICATION_COLLECTIVE, false},
	{TP_LABEL_MEMORY_ALLOC, false},
	{TP_LABEL_COMPUTE_MATH, false},
	{TP_LABEL_DATALOADER_HANDOVER, false}, /* batches that are fetched ahead */
	{TP_LABEL_HOST_CHECKPOINT, false},
	{TP_LABEL_HOST_LOGGING, false},
	{TP_LABEL_HOST_GC, false},
	{TP_LABEL_HOST_COMPILE, false},
	{TP_LABEL_HOST_SYNC, false},
	{TP_LABEL_HOST_LAUNCH, false},
	{TP_N_LABELS, false},
	{TP_LABEL_HOST_INTERPRETER, false},
	{TP_LABEL_HOST_OTHER, false},
};

struct sweep {
	struct tp_device_work *device;
	const struct tp_rank_host *host;
	struct tp_hot_table *hot;
	const struct rank_lane *order;
	size_t n_lanes;
	size_t seen;   /* index of the host's lane */
	size_t cursor; /* in the host's segments */
};

static void add_segment(struct tp_device_work *device, const struct tp_lane_slice *piece,
			enum tp_label label, uint32_t window)
{
	struct tp_rank_segment *last =
		device->n_pieces ? &device->pieces[device->n_pieces - 1] : NULL;
	if (last && last->label == label && last->window == window) {
		last->end_ns = piece->end_ns;
		return;
	}
	TP_ARRAY_PUSH(device->pieces, device->n_pieces, device->pieces_capacity) =
		(struct tp_rank_segment){piece->start_ns, piece->end_ns, label, window};
}

/* A thread that waits for the device does no work, whatever span encloses the wait; a thread in
 * Python or in a range may or may not work. */
static bool can_be_idle(enum tp_label label, bool waits)
{
	return label == TP_LABEL_HOST_SYNC || label == TP_LABEL_HOST_INTERPRETER ||
	       label == TP_LABEL_HOST_OTHER || (waits && label == TP_LABEL_HOST_DISPATCH);
}

static uint32_t bit_of(enum tp_label label)
{
	return UINT32_C(1) << tp_label_part(label);
}

/* Label of an active lane in this slice; TP_N_LABELS if the lane only shows that the thread was
 * idle. */
static enum tp_label lane_label(const struct sweep *sweep, size_t lane,
				const struct tp_host_segment *seen)
{
	if (lane != sweep->seen)
		return sweep->order[lane].label;
	return tp_label_part(seen->label) == TP_PART_IDLE ? TP_N_LABELS : seen->label;
}

static void add_busy(struct sweep *sweep, const struct tp_lane_slice *piece, enum tp_label exposed,
		     const struct tp_host_segment *seen)
{
	struct tp_device_work *device = sweep->device;
	uint64_t length_ns = piece->end_ns - piece->start_ns;
	bool waits = false;
	for (size_t i = 0; i < sweep->n_lanes; i++)
		waits |= (piece->active >> i & 1) && sweep->order[i].label == TP_LABEL_HOST_SYNC;
	uint32_t all = bit_of(exposed);
	uint32_t busy = 0;
	uint32_t beside = bit_of(exposed);
	for (size_t i = 0; i < sweep->n_lanes; i++) {
		if (!(piece->active >> i & 1))
			continue;
		enum tp_label label = lane_label(sweep, i, seen);
		if (label == TP_N_LABELS)
			continue;
		bool is_idle = i != sweep->seen && can_be_idle(label, waits);
		all |= bit_of(label);
		busy |= is_idle ? 0 : bit_of(label);
		/* An activity that only waits does not run beside another one; the others may be
		 * work. */
		beside |= waits && is_idle ? 0 : bit_of(label);
	}
	for (int part = 0; part < TP_N_PARTS; part++) {
		device->total_ns[part] += all >> part & 1 ? length_ns : 0;
		device->busy_ns[part] += busy >> part & 1 ? length_ns : 0;
		device->solo_ns[part] += beside == UINT32_C(1) << part ? length_ns : 0;
	}
}

/* Adds the main thread's stack if its time is not hidden by a device. */
static void add_stack(struct sweep *sweep, const struct tp_lane_slice *piece, enum tp_label label,
		      const struct tp_host_segment *seen)
{
	bool is_of_device =
		piece->exposed != TP_NO_LANE && sweep->order[piece->exposed].is_of_device;
	if (is_of_device || !seen || seen->state == TP_STATE_RUNNABLE)
		return;
	tp_hot_table_add(sweep->hot,
			 &(struct tp_hot_stack){.stack = seen->stack,
						.task = sweep->host->leader,
						.state = seen->state,
						.part = tp_label_part(label),
						.time_ns = piece->end_ns - piece->start_ns});
}

/* Labels a slice with one activity of the main thread, or with none known (`seen` is NULL). */
static void label_part(struct sweep *sweep, const struct tp_lane_slice *piece,
		       const struct tp_host_segment *seen)
{
	struct tp_device_work *device = sweep->device;
	uint32_t window = (uint32_t)(device->from + piece->window);
	enum tp_label label = TP_LABEL_IDLE_UNKNOWN;
	if (seen && piece->exposed == (int)sweep->seen)
		label = seen->label;
	else if (piece->exposed != TP_NO_LANE)
		label = sweep->order[piece->exposed].label;
	device->own_ns[window][label] += piece->end_ns - piece->start_ns;
	add_busy(sweep, piece, label, seen);
	add_stack(sweep, piece, label, seen);
	add_segment(device, piece, label, window);
}

static void label_slice(void *context, const struct tp_lane_slice *piece)
{
	struct sweep *sweep = context;
	if (!(piece->active >> sweep->seen & 1)) {
		label_part(sweep, piece, NULL);
		return;
	}
	/* Host segments are contiguous where the lane is active. */
	struct tp_lane_slice part = *piece;
	while (part.start_ns < piece->end_ns) {
		const struct tp_host_segment *seen =
			tp_rank_host_at(sweep->host, &sweep->cursor, part.start_ns);
		part.end_ns = seen->end_ns < piece->end_ns ? seen->end_ns : piece->end_ns;
		label_part(sweep, &part, seen);
		part.start_ns = part.end_ns;
	}
}

static const struct tp_intervals *list_of(const struct tp_device_work *device,
					  const struct tp_rank_work *rank,
					  const struct rank_lane *lane)
{
	if (lane->label == TP_N_LABELS)
		return &rank->host.known;
	return lane->is_of_device ? &device->lanes[lane->label] : &rank->lanes[lane->label];
}

static void partition_device(const struct tp_rank_analysis *analysis, struct tp_device_work *device,
			     struct tp_hot_table *hot)
{
	const struct tp_rank_work *rank = &analysis->ranks[device->rank];
	struct sweep sweep = {.device = device, .host = &rank->host, .hot = hot};
	bool has_device = device->number != TP_TRACK_THREAD;
	sweep.order = has_device ? with_device : without_device;
	sweep.n_lanes = has_device ? TP_ARRAY_LEN(with_device) : TP_ARRAY_LEN(without_device);
	struct tp_lane lanes[TP_MAX_LANES];
	for (size_t i = 0; i < sweep.n_lanes; i++) {
		const struct tp_intervals *list = list_of(device, rank, &sweep.order[i]);
		if (sweep.order[i].label == TP_N_LABELS)
			sweep.seen = i;
		/* Parts are summed here, not by tp_lanes_sweep(). */
		lanes[i] = (struct tp_lane){.intervals = list->items, .n = list->n};
	}
	device->own_ns = tp_alloc((device->n_windows + 1) * sizeof(*device->own_ns));
	device->after_ns = device->own_ns;
	tp_lanes_sweep(lanes, sweep.n_lanes, device->windows + device->from,
		       device->to - device->from, label_slice, &sweep);
}

void tp_ranks_partition(struct tp_rank_analysis *analysis)
{
	size_t n_communicating = 0;
	for (size_t i = 0; i < analysis->n_devices; i++)
		n_communicating +=
			analysis->devices[i].lanes[TP_LABEL_COMMUNICATION_COLLECTIVE].n > 0;
	analysis->is_joined |= n_communicating > 1;
	for (size_t i = 0; i < analysis->n_devices; i++)
		partition_device(analysis, &analysis->devices[i], &analysis->hot);
}

void tp_ranks_partition_steps(const struct tp_rank_analysis *analysis,
			      const struct tp_device_work *device, struct tp_step *steps, size_t n)
{
	/* A copy of which only own_ns is used. */
	struct tp_device_work others = *device;
	struct tp_hot_table hot = {.trace = analysis->trace};
	others.windows = tp_alloc((n + 1) * sizeof(*others.windows));
	others.n_windows = n;
	others.from = 0;
	others.to = n;
	others.pieces = NULL;
	others.n_pieces = 0;
	others.pieces_capacity = 0;
	for (size_t i = 0; i < n; i++)
		others.windows[i] = (struct tp_interval){steps[i].start_ns, steps[i].end_ns};
	partition_device(analysis, &others, &hot);
	for (size_t i = 0; i < n; i++) {
		memset(steps[i].part_ns, 0, sizeof(steps[i].part_ns));
		for (int label = 0; label < TP_N_LABELS; label++)
			steps[i].part_ns[tp_label_part((enum tp_label)label)] +=
				others.own_ns[i][label];
	}
	free(others.windows);
	free(others.own_ns);
	free(others.pieces);
	tp_hot_table_release(&hot);
}
