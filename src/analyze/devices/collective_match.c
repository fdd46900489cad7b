/* SPDX-License-Identifier: Apache-2.0 */
/* Matches the communication kernels of different devices. */
#include "collective_match.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* The communication kernels of one device in one communicator, by start; a slice of the list
 * below. */
struct member {
	uint32_t device;
	uint32_t *kernels;
	size_t n;
};

/* All communication kernels by communicator, then by device and start. */
struct collective_grouping {
	uint32_t *groups; /* string ids, in order of appearance; heap, as are the arrays below */
	size_t n_groups;
	size_t groups_capacity;
	size_t *first; /* index into kernels of each group's first; one more at the end */
	uint32_t *kernels;
	uint32_t *devices;      /* parallel to kernels */
	struct member *members; /* of the current group; room for all devices */
};

const struct tp_op *tp_comm_kernel_op(const struct tp_collectives *all, uint32_t device,
				      uint32_t kernel)
{
	return &all->analysis->devices[device].ops[all->kernels[device].items[kernel].op];
}

static const struct tp_detail *detail_of(const struct tp_collectives *all, uint32_t device,
					 uint32_t kernel)
{
	return &all->analysis->trace->details[tp_comm_kernel_op(all, device, kernel)->detail];
}

/* Context of sequence_order(). */
struct sorted {
	const struct tp_collectives *all;
	uint32_t device;
};

/* Splits a group's kernels where the device changes. */
static size_t find_members(struct collective_grouping *grouping, size_t group)
{
	size_t n = 0;
	for (size_t i = grouping->first[group]; i < grouping->first[group + 1]; i++) {
		if (!n || grouping->members[n - 1].device != grouping->devices[i])
			grouping->members[n++] = (struct member){.device = grouping->devices[i],
								 .kernels = &grouping->kernels[i]};
		grouping->members[n - 1].n++;
	}
	return n;
}

/* Kernels with equal sequence numbers stay in order of their start. */
static int sequence_order(const void *a, const void *b, void *context)
{
	const struct tp_collectives *all = ((const struct sorted *)context)->all;
	uint32_t device = ((const struct sorted *)context)->device;
	uint32_t x = *(const uint32_t *)a;
	uint32_t y = *(const uint32_t *)b;
	uint32_t left = detail_of(all, device, x)->sequence;
	uint32_t right = detail_of(all, device, y)->sequence;
	return left != right ? (left > right) - (left < right) : (x > y) - (x < y);
}

static bool have_sequences(const struct tp_collectives *all, const struct member *members, size_t n)
{
	for (size_t m = 0; m < n; m++)
		for (size_t i = 0; i < members[m].n; i++)
			if (!detail_of(all, members[m].device, members[m].kernels[i])->sequence)
				return false;
	return true;
}

static void not_joined(struct tp_collectives *all, const char *why, uint32_t group)
{
	struct tp_profile *profile = all->analysis->profile;
	const char *name = tp_trace_string(all->analysis->trace, group);
	if (!profile->not_joined)
		profile->not_joined = tp_arena_printf(&profile->arena, "%s%s%s", why,
						      *name ? " of communicator " : "", name);
}

/* Returns true if two kernels can be the same collective: operation and type agree if known. */
static bool are_same(const struct tp_collectives *all, const struct tp_collective_part *a,
		     const struct tp_collective_part *b)
{
	const struct tp_detail *x = detail_of(all, a->device, a->kernel);
	const struct tp_detail *y = detail_of(all, b->device, b->kernel);
	return (!x->op || !y->op || x->op == y->op) && (!x->type || !y->type || x->type == y->type);
}

/* Parts [first, n_parts) become a collective, unless they contradict each other. Returns false
 * then. */
static bool add_collective(struct tp_collectives *all, size_t first, uint32_t group)
{
	for (size_t i = first + 1; i < all->n_parts; i++) {
		if (are_same(all, &all->parts[first], &all->parts[i]))
			continue;
		all->n_parts = first;
		return false;
	}
	for (size_t i = first; i < all->n_parts; i++)
		all->kernels[all->parts[i].device].items[all->parts[i].kernel].collective =
			(uint32_t)all->n;
	TP_ARRAY_PUSH(all->items, all->n, all->capacity) =
		(struct tp_collective){.first = first, .n = all->n_parts - first, .group = group};
	return true;
}

static void match_by_order(struct tp_collectives *all, const struct member *members, size_t n,
			   uint32_t group)
{
	for (size_t m = 1; m < n; m++) {
		if (members[m].n != members[0].n) {
			not_joined(all, "ranks have different numbers of collectives", group);
			return;
		}
	}
	for (size_t i = 0; i < members[0].n; i++) {
		size_t first = all->n_parts;
		for (size_t m = 0; m < n; m++)
			TP_ARRAY_PUSH(all->parts, all->n_parts, all->parts_capacity) =
				(struct tp_collective_part){members[m].device,
							    members[m].kernels[i]};
		if (!add_collective(all, first, group)) {
			not_joined(all, "the collectives of ranks differ in kind", group);
			return;
		}
	}
}

/* Matches the sequence numbers that at least two members have. */
static void match_by_sequence(struct tp_collectives *all, const struct member *members, size_t n,
			      uint32_t group)
{
	size_t *next = tp_alloc(n * sizeof(*next));
	/* Different streams may run them in a different order. */
	for (size_t m = 0; m < n; m++) {
		struct sorted sorted = {all, members[m].device};
		qsort_r(members[m].kernels, members[m].n, sizeof(*members[m].kernels),
			sequence_order, &sorted);
	}
	for (;;) {
		uint32_t lowest = UINT32_MAX;
		for (size_t m = 0; m < n; m++) {
			if (next[m] == members[m].n)
				continue;
			uint32_t sequence =
				detail_of(all, members[m].device, members[m].kernels[next[m]])
					->sequence;
			lowest = sequence < lowest ? sequence : lowest;
		}
		if (lowest == UINT32_MAX)
			break;
		size_t first = all->n_parts;
		for (size_t m = 0; m < n; m++) {
			if (next[m] == members[m].n)
				continue;
			uint32_t kernel = members[m].kernels[next[m]];
			if (detail_of(all, members[m].device, kernel)->sequence != lowest)
				continue;
			next[m]++;
			TP_ARRAY_PUSH(all->parts, all->n_parts, all->parts_capacity) =
				(struct tp_collective_part){members[m].device, kernel};
		}
		if (all->n_parts - first < 2)
			all->n_parts = first;
		else if (!add_collective(all, first, group))
			not_joined(all, "the collectives of ranks differ in kind", group);
	}
	free(next);
}

/* Returns true if there are more members than the trace states: then several communicators have one
 * name. Fewer are possible, because some ranks may have no trace. */
static bool are_too_many(struct tp_collectives *all, const struct member *members, size_t n,
			 uint32_t group)
{
	uint32_t most = detail_of(all, members[0].device, members[0].kernels[0])->n_ranks;
	if (!most || n <= most)
		return false;
	not_joined(all, "several communicators have one name, and their members are unknown",
		   group);
	return true;
}

static void match_group(struct tp_collectives *all, struct collective_grouping *grouping,
			size_t number)
{
	uint32_t group = grouping->groups[number];
	size_t n = find_members(grouping, number);
	const struct member *members = grouping->members;
	if (n < 2 || are_too_many(all, members, n, group))
		return;
	if (have_sequences(all, members, n))
		match_by_sequence(all, members, n, group);
	else
		match_by_order(all, members, n, group);
}

/* Numbers the groups by string, and counts the kernels of each in first[number + 1]. */
static void count_groups(const struct tp_collectives *all, struct collective_grouping *out,
			 struct tp_map *numbers, size_t n_kernels)
{
	out->first = tp_alloc((n_kernels + 2) * sizeof(*out->first));
	for (uint32_t d = 0; d < all->analysis->n_devices; d++) {
		for (uint32_t i = 0; i < all->kernels[d].n; i++) {
			uint32_t group = detail_of(all, d, i)->group;
			uint64_t number = out->n_groups;
			if (!tp_map_get(numbers, group, &number)) {
				tp_map_set(numbers, group, number);
				TP_ARRAY_PUSH(out->groups, out->n_groups, out->groups_capacity) =
					group;
			}
			out->first[number + 1]++;
		}
	}
	for (size_t i = 0; i < out->n_groups; i++)
		out->first[i + 1] += out->first[i];
}

/* In two passes, so that it stays fast with as many communicators as kernels. */
static void group_comm_kernels(const struct tp_collectives *all, struct collective_grouping *out)
{
	struct tp_map numbers = {0};
	size_t n_kernels = 0;
	for (uint32_t d = 0; d < all->analysis->n_devices; d++)
		n_kernels += all->kernels[d].n;
	*out = (struct collective_grouping){0};
	count_groups(all, out, &numbers, n_kernels);
	out->kernels = tp_alloc((n_kernels + 1) * sizeof(*out->kernels));
	out->devices = tp_alloc((n_kernels + 1) * sizeof(*out->devices));
	out->members = tp_alloc((all->analysis->n_devices + 1) * sizeof(*out->members));
	size_t *next = tp_alloc((out->n_groups + 1) * sizeof(*next));
	memcpy(next, out->first, out->n_groups * sizeof(*next));
	for (uint32_t d = 0; d < all->analysis->n_devices; d++) {
		for (uint32_t i = 0; i < all->kernels[d].n; i++) {
			uint64_t number = 0;
			(void)tp_map_get(&numbers, detail_of(all, d, i)->group, &number);
			out->kernels[next[number]] = i;
			out->devices[next[number]++] = d;
		}
	}
	free(next);
	tp_map_release(&numbers);
}

void tp_collectives_match(struct tp_collectives *all)
{
	struct collective_grouping grouping;
	group_comm_kernels(all, &grouping);
	for (size_t i = 0; i < grouping.n_groups; i++)
		match_group(all, &grouping, i);
	free(grouping.groups);
	free(grouping.first);
	free(grouping.kernels);
	free(grouping.devices);
	free(grouping.members);
}

static void list_comm_kernels(struct tp_comm_kernels *kernels, const struct tp_device_work *device)
{
	uint64_t reach_ns = 0;
	for (size_t i = 0; i < device->n_ops; i++) {
		const struct tp_op *op = &device->ops[i];
		if (op->class != TP_OP_COMMUNICATION || op->end_ns <= op->start_ns)
			continue;
		reach_ns = op->end_ns > reach_ns ? op->end_ns : reach_ns;
		TP_ARRAY_PUSH(kernels->items, kernels->n, kernels->capacity) =
			(struct tp_comm_kernel){(uint32_t)i, TP_NO_COLLECTIVE, reach_ns};
	}
}

void tp_collectives_init(struct tp_collectives *all, struct tp_rank_analysis *analysis)
{
	size_t n = analysis->n_devices;
	*all = (struct tp_collectives){.analysis = analysis};
	all->kernels = tp_alloc(n * sizeof(*all->kernels));
	for (size_t d = 0; d < n; d++)
		list_comm_kernels(&all->kernels[d], &analysis->devices[d]);
	all->clocks = tp_alloc((analysis->n_ranks + 1) * sizeof(*all->clocks));
}

void tp_collectives_release(struct tp_collectives *all)
{
	for (size_t d = 0; d < all->analysis->n_devices; d++)
		free(all->kernels[d].items);
	free(all->kernels);
	free(all->clocks);
	free(all->parts);
	free(all->items);
}
