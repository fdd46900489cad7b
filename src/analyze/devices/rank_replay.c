/* SPDX-License-Identifier: Apache-2.0 */
/* Plays recorded steps again: each device in its recorded order, collectives as late as their last
 * member. Gaps stay, so a gain that would also close gaps is not counted. */
#include "rank_replay.h"

#include "analyze/thresholds.h"

#include "trainprof/base/memory.h"

#include <math.h>
#include <stdlib.h>

struct tp_replay_event {
	int64_t time_ns;  /* on the reference clock, as recorded */
	int64_t order_ns; /* when it is played */
	/* Begin: since the operations before it ended. End of a collective: since its last arrival.
	 */
	int64_t after_ns;
	uint32_t device;
	uint32_t op;
	bool is_end;
};

/* An end comes before a start of the same time: what begins there may have waited for it. */
static int event_order(const void *a, const void *b)
{
	const struct tp_replay_event *x = a;
	const struct tp_replay_event *y = b;
	if (x->order_ns != y->order_ns)
		return x->order_ns < y->order_ns ? -1 : 1;
	if (x->is_end != y->is_end)
		return x->is_end ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return (x->op > y->op) - (x->op < y->op);
}

static bool is_replayed(const struct tp_device_work *device, const struct tp_op *op)
{
	return op->end_ns > op->start_ns && tp_op_is_in_window(device, op);
}

/* Streams of a device are recorded with clocks that differ a little: what ends shortly after an
 * operation begins may have ended before it. */
static int64_t clock_error_ns(int64_t length_ns)
{
	int64_t part_ns = length_ns / 4;
	return part_ns < TP_STREAM_CLOCKS_NS ? part_ns : TP_STREAM_CLOCKS_NS;
}

static void add_events(struct tp_rank_replay *replay, uint32_t d)
{
	const struct tp_device_work *device = &replay->all->analysis->devices[d];
	for (uint32_t i = 0; i < device->n_ops; i++) {
		const struct tp_op *op = &device->ops[i];
		if (!is_replayed(device, op))
			continue;
		int64_t start_ns = tp_collectives_aligned(replay->all, device->rank, op->start_ns);
		int64_t end_ns = tp_collectives_aligned(replay->all, device->rank, op->end_ns);
		/* Clocks that drift may shorten an operation to nothing. */
		end_ns = end_ns > start_ns ? end_ns : start_ns + 1;
		replay->events[replay->n_events++] =
			(struct tp_replay_event){.time_ns = start_ns,
						 .order_ns = start_ns +
							     clock_error_ns(end_ns - start_ns),
						 .device = d,
						 .op = i};
		replay->events[replay->n_events++] = (struct tp_replay_event){.time_ns = end_ns,
									      .order_ns = end_ns,
									      .device = d,
									      .op = i,
									      .is_end = true};
	}
}

static uint32_t *collectives_of(const struct tp_collectives *all, size_t d)
{
	size_t n = all->analysis->devices[d].n_ops;
	uint32_t *of = tp_alloc((n + 1) * sizeof(*of));
	for (size_t i = 0; i < n; i++)
		of[i] = TP_NO_COLLECTIVE;
	for (size_t i = 0; i < all->kernels[d].n; i++)
		of[all->kernels[d].items[i].op] = all->kernels[d].items[i].collective;
	return of;
}

static const struct tp_op *op_of(const struct tp_rank_replay *replay,
				 const struct tp_replay_event *event)
{
	return &replay->all->analysis->devices[event->device].ops[event->op];
}

/* ---- gaps ---- */

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Computes after_ns of all events, which are in order. */
static void find_gaps(struct tp_rank_replay *replay)
{
	size_t n_devices = replay->all->analysis->n_devices;
	int64_t *ended_ns = tp_alloc((n_devices + 1) * sizeof(*ended_ns));
	int64_t *arrived_ns = tp_alloc((replay->all->n + 1) * sizeof(*arrived_ns));
	for (size_t i = 0; i < n_devices; i++)
		ended_ns[i] = replay->start_ns;
	for (size_t i = 0; i < replay->all->n; i++)
		arrived_ns[i] = INT64_MIN;
	for (size_t i = 0; i < replay->n_events; i++) {
		struct tp_replay_event *event = &replay->events[i];
		uint32_t collective = replay->collective_of[event->device][event->op];
		bool is_joined = collective != TP_NO_COLLECTIVE;
		if (event->is_end && is_joined)
			event->after_ns = later(event->time_ns - arrived_ns[collective], 0);
		if (event->is_end) {
			ended_ns[event->device] = later(ended_ns[event->device], event->time_ns);
			continue;
		}
		event->after_ns = event->time_ns - ended_ns[event->device];
		if (is_joined)
			arrived_ns[collective] = later(arrived_ns[collective], event->time_ns);
	}
	free(ended_ns);
	free(arrived_ns);
}

/* A gap before an operation of which the trace has no launch. */
struct gap {
	uint32_t name;
	uint32_t device;
	double length_ns;
};

static int gap_order(const void *a, const void *b)
{
	const struct gap *x = a;
	const struct gap *y = b;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return (x->length_ns > y->length_ns) - (x->length_ns < y->length_ns);
}

/* Writes, by name, the smallest of the devices' median gaps. */
static void find_min_gaps(const struct gap *gaps, size_t n, double *shortest_ns)
{
	for (size_t i = 0, next; i < n; i = next) {
		for (next = i; next < n && gaps[next].name == gaps[i].name &&
			       gaps[next].device == gaps[i].device;)
			next++;
		double median_ns = gaps[i + (next - i) / 2].length_ns;
		if (median_ns < shortest_ns[gaps[i].name])
			shortest_ns[gaps[i].name] = median_ns;
	}
}

/* A device that waits longer than others before the same operation waits for something that was
 * not recorded, such as another rank, and would not wait as long if that were faster. */
static void limit_gaps(struct tp_rank_replay *replay)
{
	size_t n_strings = replay->all->analysis->trace->n_strings;
	struct gap *gaps = tp_alloc((replay->n_events + 1) * sizeof(*gaps));
	double *shortest_ns = tp_alloc((n_strings + 1) * sizeof(*shortest_ns));
	size_t n = 0;
	for (size_t i = 0; i <= n_strings; i++)
		shortest_ns[i] = INFINITY;
	for (size_t i = 0; i < replay->n_events; i++) {
		const struct tp_replay_event *event = &replay->events[i];
		const struct tp_op *op = op_of(replay, event);
		if (!event->is_end && !op->is_linked)
			gaps[n++] = (struct gap){op->name, event->device, (double)event->after_ns};
	}
	qsort(gaps, n, sizeof(*gaps), gap_order);
	find_min_gaps(gaps, n, shortest_ns);
	for (size_t i = 0; i < replay->n_events; i++) {
		struct tp_replay_event *event = &replay->events[i];
		const struct tp_op *op = op_of(replay, event);
		if (!event->is_end && (double)event->after_ns > shortest_ns[op->name])
			event->after_ns = (int64_t)shortest_ns[op->name];
	}
	free(gaps);
	free(shortest_ns);
}

void tp_rank_replay_init(struct tp_rank_replay *replay, const struct tp_collectives *all)
{
	size_t n_devices = all->analysis->n_devices;
	size_t n_ops = 0;
	*replay = (struct tp_rank_replay){.all = all};
	for (size_t d = 0; d < n_devices; d++)
		n_ops += all->analysis->devices[d].n_ops;
	replay->events = tp_alloc((2 * n_ops + 1) * sizeof(*replay->events));
	replay->collective_of = tp_alloc((n_devices + 1) * sizeof(*replay->collective_of));
	for (uint32_t d = 0; d < n_devices; d++) {
		replay->collective_of[d] = collectives_of(all, d);
		add_events(replay, d);
	}
	qsort(replay->events, replay->n_events, sizeof(*replay->events), event_order);
	replay->start_ns = replay->n_events ? replay->events[0].time_ns : 0;
	find_gaps(replay);
	limit_gaps(replay);
}

void tp_rank_replay_release(struct tp_rank_replay *replay)
{
	for (size_t d = 0; d < replay->all->analysis->n_devices; d++)
		free(replay->collective_of[d]);
	free(replay->collective_of);
	free(replay->events);
}

/* ---- one replay ---- */

struct player {
	const struct tp_rank_replay *replay;
	const struct tp_rank_change *change;
	double *ended_ns;   /* by device: of its operations so far; since the first event */
	double *arrived_ns; /* by collective: the last member's begin */
	double **begins_ns; /* by device and operation */
};

static double length_of(const struct player *player, uint32_t d, const struct tp_op *op)
{
	double length_ns = (double)(op->end_ns - op->start_ns);
	if (op->class != TP_OP_COMPUTE)
		return length_ns;
	if (player->change->mean_ns)
		length_ns = player->change->mean_ns[op->name];
	return length_ns * player->change->scale[d];
}

static void begin(struct player *player, const struct tp_replay_event *event)
{
	uint32_t collective = player->replay->collective_of[event->device][event->op];
	double at_ns = fmax(0, player->ended_ns[event->device] + (double)event->after_ns);
	player->begins_ns[event->device][event->op] = at_ns;
	if (collective != TP_NO_COLLECTIVE)
		player->arrived_ns[collective] = fmax(player->arrived_ns[collective], at_ns);
}

static void end(struct player *player, const struct tp_replay_event *event)
{
	uint32_t collective = player->replay->collective_of[event->device][event->op];
	double end_ns = player->begins_ns[event->device][event->op];
	if (collective != TP_NO_COLLECTIVE)
		end_ns = fmax(end_ns, player->arrived_ns[collective] + (double)event->after_ns);
	else
		end_ns += length_of(player, event->device, op_of(player->replay, event));
	player->ended_ns[event->device] = fmax(player->ended_ns[event->device], end_ns);
}

double tp_rank_replay_length(const struct tp_rank_replay *replay,
			     const struct tp_rank_change *change)
{
	const struct tp_rank_analysis *analysis = replay->all->analysis;
	struct player player = {.replay = replay, .change = change};
	player.ended_ns = tp_alloc((analysis->n_devices + 1) * sizeof(*player.ended_ns));
	player.arrived_ns = tp_alloc((replay->all->n + 1) * sizeof(*player.arrived_ns));
	player.begins_ns = tp_alloc((analysis->n_devices + 1) * sizeof(*player.begins_ns));
	for (size_t d = 0; d < analysis->n_devices; d++)
		player.begins_ns[d] =
			tp_alloc((analysis->devices[d].n_ops + 1) * sizeof(**player.begins_ns));
	for (size_t i = 0; i < replay->n_events; i++) {
		const struct tp_replay_event *event = &replay->events[i];
		if (event->is_end)
			end(&player, event);
		else
			begin(&player, event);
	}
	double longest_ns = 0;
	for (size_t d = 0; d < analysis->n_devices; d++) {
		longest_ns = fmax(longest_ns, player.ended_ns[d]);
		free(player.begins_ns[d]);
	}
	free(player.begins_ns);
	free(player.arrived_ns);
	free(player.ended_ns);
	return longest_ns;
}
