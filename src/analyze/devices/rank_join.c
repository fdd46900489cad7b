/* SPDX-License-Identifier: Apache-2.0 */
/* Joins ranks: attributes each exposed wait in a collective to the activity of the late rank at
 * that instant (docs/design/ranks.md#ranks-joined). */
#include "collective_match.h"
#include "rank_balance.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"

#include <stdlib.h>

struct join {
	struct tp_rank_analysis *analysis;
	struct tp_collectives all;
	uint64_t *blame_ns; /* by device and label */
};

/* ---- attribution ---- */

/* Receiver of the attributed time. */
struct waiter {
	uint64_t *after_ns; /* by label; of the window in which the wait lies */
	bool is_own;        /* the device's own time, not blamed on another one */
};

static void add_wait(struct join *join, const struct waiter *waiter, uint32_t device,
		     enum tp_label label, uint64_t length_ns)
{
	waiter->after_ns[label] += length_ns;
	if (!waiter->is_own)
		join->blame_ns[device * TP_N_LABELS + label] += length_ns;
}

static size_t segment_at(const struct tp_device_work *device, uint64_t time_ns)
{
	size_t at;
	TP_FIND_FIRST(at, 0, device->n_pieces, device->pieces[at].end_ns > time_ns);
	return at;
}

static uint64_t min_ns(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The device on whose clock a wait is followed, and how often it was passed on to another one. */
struct clock_wait {
	const struct waiter *waiter;
	uint32_t device;
	uint32_t depth;
};

static void attribute_wait(struct join *join, const struct clock_wait *wait, uint64_t start_ns,
			   uint64_t end_ns);

/* Attributes [start, end) of a waiting device to the activity of the late one. */
static void attribute_to_straggler(struct join *join, const struct clock_wait *wait,
				   const struct tp_collective *collective, uint64_t start_ns,
				   uint64_t end_ns)
{
	struct tp_rank_analysis *analysis = join->analysis;
	uint32_t from = analysis->devices[wait->device].rank;
	uint32_t to = analysis->devices[collective->late].rank;
	struct waiter waiter = {.after_ns = wait->waiter->after_ns};
	if (wait->depth > analysis->n_devices) {
		add_wait(join, wait->waiter, wait->device, TP_LABEL_COMMUNICATION_WAIT,
			 end_ns - start_ns);
		return;
	}
	/* Lengths must stay exact: one clock shift for the whole interval. */
	int64_t there_ns = (int64_t)start_ns;
	if (from != to)
		there_ns = tp_collectives_local(&join->all, to,
						tp_collectives_aligned(&join->all, from, start_ns));
	int64_t there_end_ns = there_ns + (int64_t)(end_ns - start_ns);
	int64_t seen_ns = there_ns > 0 ? there_ns : 0;
	if (there_ns < 0) /* before the start of all recordings, on that clock */
		add_wait(join, &waiter, collective->late, TP_LABEL_COMMUNICATION_UNCAPTURED,
			 (uint64_t)((there_end_ns < 0 ? there_end_ns : 0) - there_ns));
	struct clock_wait next = {&waiter, collective->late, wait->depth + 1};
	if (there_end_ns > seen_ns)
		attribute_wait(join, &next, (uint64_t)seen_ns, (uint64_t)there_end_ns);
}

/* Returns the first communication kernel that may end after a time. */
static size_t comm_kernel_at(const struct tp_comm_kernels *kernels, uint64_t time_ns)
{
	size_t at;
	TP_FIND_FIRST(at, 0, kernels->n, kernels->items[at].reach_ns > time_ns);
	return at;
}

/* Splits [start, end) of one communication kernel: the wait for others is passed on to the late
 * device, the rest is its own transfer. */
static void split_comm_kernel(struct join *join, const struct clock_wait *wait,
			      const struct tp_comm_kernel *kernel, uint64_t start_ns,
			      uint64_t end_ns)
{
	const struct tp_device_work *device = &join->analysis->devices[wait->device];
	if (kernel->collective == TP_NO_COLLECTIVE) {
		add_wait(join, wait->waiter, wait->device, TP_LABEL_COMMUNICATION_COLLECTIVE,
			 end_ns - start_ns);
		return;
	}
	const struct tp_collective *collective = &join->all.items[kernel->collective];
	const struct tp_op *op = &device->ops[kernel->op];
	int64_t here_ns = tp_collectives_aligned(&join->all, device->rank, op->start_ns);
	uint64_t arrival_ns = op->start_ns + (uint64_t)(collective->arrival_ns - here_ns);
	uint64_t wait_end_ns = min_ns(arrival_ns, end_ns);
	if (collective->late != wait->device && wait_end_ns > start_ns) {
		attribute_to_straggler(join, wait, collective, start_ns, wait_end_ns);
		start_ns = wait_end_ns;
	}
	add_wait(join, wait->waiter, wait->device, TP_LABEL_COMMUNICATION_TRANSFER,
		 end_ns - start_ns);
}

/* Adds communication of a thread, not of the device. */
static void add_thread_wait(struct join *join, const struct clock_wait *wait, uint64_t start_ns,
			    uint64_t end_ns)
{
	add_wait(join, wait->waiter, wait->device, TP_LABEL_COMMUNICATION_COLLECTIVE,
		 end_ns - start_ns);
}

/* Splits an interval in which the device or a thread communicates and nothing with a higher
 * priority goes on. */
static void split(struct join *join, const struct clock_wait *wait, uint64_t start_ns,
		  uint64_t end_ns)
{
	const struct tp_device_work *device = &join->analysis->devices[wait->device];
	const struct tp_comm_kernels *kernels = &join->all.kernels[wait->device];
	uint64_t at_ns = start_ns;
	for (size_t i = comm_kernel_at(kernels, start_ns); i < kernels->n && at_ns < end_ns; i++) {
		const struct tp_op *op = &device->ops[kernels->items[i].op];
		if (op->start_ns >= end_ns)
			break;
		if (op->end_ns <= at_ns)
			continue;
		if (op->start_ns > at_ns)
			add_thread_wait(join, wait, at_ns, op->start_ns);
		at_ns = op->start_ns > at_ns ? op->start_ns : at_ns;
		uint64_t until_ns = min_ns(op->end_ns, end_ns);
		split_comm_kernel(join, wait, &kernels->items[i], at_ns, until_ns);
		at_ns = until_ns;
	}
	if (at_ns < end_ns)
		add_thread_wait(join, wait, at_ns, end_ns);
}

/* Adds the activity of a device during [start, end) of its own clock to the waiter. */
static void attribute_wait(struct join *join, const struct clock_wait *wait, uint64_t start_ns,
			   uint64_t end_ns)
{
	const struct tp_device_work *device = &join->analysis->devices[wait->device];
	uint64_t at_ns = start_ns;
	for (size_t i = segment_at(device, start_ns); at_ns < end_ns; i++) {
		const struct tp_rank_segment *piece =
			i < device->n_pieces ? &device->pieces[i] : NULL;
		uint64_t next_ns = piece ? min_ns(piece->start_ns, end_ns) : end_ns;
		if (next_ns > at_ns)
			add_wait(join, wait->waiter, wait->device,
				 TP_LABEL_COMMUNICATION_UNCAPTURED, next_ns - at_ns);
		at_ns = next_ns > at_ns ? next_ns : at_ns;
		if (!piece || at_ns >= end_ns)
			break;
		uint64_t until_ns = min_ns(piece->end_ns, end_ns);
		if (piece->label == TP_LABEL_COMMUNICATION_COLLECTIVE)
			split(join, wait, at_ns, until_ns);
		else
			add_wait(join, wait->waiter, wait->device, piece->label, until_ns - at_ns);
		at_ns = until_ns;
	}
}

static void attribute_all(struct join *join)
{
	struct tp_rank_analysis *analysis = join->analysis;
	for (uint32_t d = 0; d < analysis->n_devices; d++) {
		struct tp_device_work *device = &analysis->devices[d];
		device->after_ns = tp_alloc((device->n_windows + 1) * sizeof(*device->after_ns));
		for (size_t i = 0; i < device->n_pieces; i++) {
			const struct tp_rank_segment *piece = &device->pieces[i];
			struct waiter own = {device->after_ns[piece->window], true};
			struct clock_wait wait = {&own, d, 0};
			attribute_wait(join, &wait, piece->start_ns, piece->end_ns);
		}
	}
}

/* ---- results ---- */

static int collective_order(const void *a, const void *b)
{
	const struct tp_collective_result *x = a;
	const struct tp_collective_result *y = b;
	return (x->arrival_ns > y->arrival_ns) - (x->arrival_ns < y->arrival_ns);
}

static void describe(struct join *join, const struct tp_collective *collective,
		     struct tp_collective_result *out)
{
	struct tp_rank_analysis *analysis = join->analysis;
	int64_t first_start = INT64_MAX;
	int64_t first_end = INT64_MAX;
	int64_t last_end = INT64_MIN;
	uint64_t *waits = tp_arena_array(analysis->arena, analysis->n_devices, sizeof(*waits));
	for (size_t k = 0; k < collective->n; k++) {
		const struct tp_collective_part *part = &join->all.parts[collective->first + k];
		const struct tp_device_work *device = &analysis->devices[part->device];
		const struct tp_op *op = tp_comm_kernel_op(&join->all, part->device, part->kernel);
		int64_t start_ns = tp_collectives_aligned(&join->all, device->rank, op->start_ns);
		int64_t end_ns = tp_collectives_aligned(&join->all, device->rank, op->end_ns);
		first_start = start_ns < first_start ? start_ns : first_start;
		first_end = end_ns < first_end ? end_ns : first_end;
		last_end = end_ns > last_end ? end_ns : last_end;
		waits[part->device] = (uint64_t)(collective->arrival_ns - start_ns);
		if (part->device == collective->late)
			out->name = op->name;
	}
	out->group = collective->group;
	out->late = collective->late;
	out->n_members = (uint32_t)collective->n;
	out->arrival_ns = collective->arrival_ns > 0 ? (uint64_t)collective->arrival_ns : 0;
	out->arrival_spread_ns = (uint64_t)(collective->arrival_ns - first_start);
	out->end_spread_ns = (uint64_t)(last_end - first_end);
	if (last_end > collective->arrival_ns)
		out->transfer_ns = (uint64_t)(last_end - collective->arrival_ns);
	out->wait_ns = waits;
}

static int blame_order(const void *a, const void *b)
{
	const struct tp_blame_result *x = a;
	const struct tp_blame_result *y = b;
	if (x->time_ns != y->time_ns)
		return x->time_ns > y->time_ns ? -1 : 1;
	return x->device != y->device ? (x->device > y->device) - (x->device < y->device)
				      : (int)x->label - (int)y->label;
}

static void set_results(struct join *join)
{
	struct tp_rank_analysis *analysis = join->analysis;
	struct tp_profile *profile = analysis->profile;
	profile->collectives =
		tp_arena_array(analysis->arena, join->all.n, sizeof(*profile->collectives));
	profile->n_collectives = join->all.n;
	for (size_t i = 0; i < join->all.n; i++)
		describe(join, &join->all.items[i], &profile->collectives[i]);
	qsort(profile->collectives, join->all.n, sizeof(*profile->collectives), collective_order);
	size_t n = analysis->n_devices * TP_N_LABELS;
	profile->blames = tp_arena_array(analysis->arena, n, sizeof(*profile->blames));
	for (size_t i = 0; i < n; i++)
		if (join->blame_ns[i])
			profile->blames[profile->n_blames++] = (struct tp_blame_result){
				.device = (uint32_t)(i / TP_N_LABELS),
				.label = (enum tp_label)(i % TP_N_LABELS),
				.time_ns = join->blame_ns[i],
			};
	qsort(profile->blames, profile->n_blames, sizeof(*profile->blames), blame_order);
	for (size_t i = 0; i < profile->n_blames; i++)
		analysis->devices[profile->blames[i].device].wait_caused_ns +=
			profile->blames[i].time_ns;
}

void tp_ranks_join(struct tp_rank_analysis *analysis)
{
	size_t n_pieces = 0;
	for (size_t i = 0; i < analysis->n_devices; i++)
		n_pieces += analysis->devices[i].n_pieces;
	struct tp_collectives none = {.analysis = analysis};
	if (!n_pieces || !analysis->is_joined) {
		tp_rank_balance_set(&none);
		return;
	}
	struct join join = {.analysis = analysis};
	join.blame_ns = tp_alloc(analysis->n_devices * TP_N_LABELS * sizeof(*join.blame_ns));
	tp_collectives_init(&join.all, analysis);
	tp_collectives_match(&join.all);
	if (join.all.n) {
		tp_collectives_align(&join.all);
		attribute_all(&join);
		set_results(&join);
	}
	tp_rank_balance_set(&join.all);
	tp_collectives_release(&join.all);
	free(join.blame_ns);
}
