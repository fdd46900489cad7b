/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the stages of a pipeline: the file names them, or communicators show them. Neighbours in a
 * pipeline send to each other, replicas of a stage sum their gradients. */
#include "rank_stages.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- sets of devices ---- */

static uint32_t root_of(const uint32_t *parents, uint32_t device)
{
	while (parents[device] != device)
		device = parents[device];
	return device;
}

static void merge(uint32_t *parents, uint32_t a, uint32_t b)
{
	uint32_t x = root_of(parents, a);
	uint32_t y = root_of(parents, b);
	/* The lowest device stays the root, so that stages are in the order of ranks. */
	parents[x < y ? y : x] = x < y ? x : y;
}

static uint32_t *singles(size_t n)
{
	uint32_t *parents = tp_alloc((n + 1) * sizeof(*parents));
	for (uint32_t i = 0; i < n; i++)
		parents[i] = i;
	return parents;
}

/* ---- communicators ---- */

static uint32_t device_of(const struct tp_collectives *all, const struct tp_collective *collective,
			  size_t member)
{
	return all->parts[collective->first + member].device;
}

static bool is_exchange(const struct tp_collectives *all, const struct tp_collective *collective)
{
	const struct tp_collective_part *part = &all->parts[collective->first];
	const struct tp_trace *trace = all->analysis->trace;
	const struct tp_op *op = tp_comm_kernel_op(all, part->device, part->kernel);
	const char *name = tp_trace_string(trace, trace->details[op->detail].op);
	return strncmp(name, "send", 4) == 0 || strncmp(name, "recv", 4) == 0;
}

/* Stages of one pipeline also meet in collectives: the first and the last sum the gradients of the
 * embedding, and all of them the length of the gradient. */
static bool is_within_stage(const struct tp_collectives *all, const uint32_t *pipelines,
			    const struct tp_collective *collective)
{
	for (size_t i = 1; i < collective->n; i++)
		for (size_t k = 0; k < i; k++)
			if (root_of(pipelines, device_of(all, collective, i)) ==
			    root_of(pipelines, device_of(all, collective, k)))
				return false;
	return true;
}

static void merge_members(const struct tp_collectives *all, uint32_t *parents,
			  const struct tp_collective *collective)
{
	for (size_t i = 1; i < collective->n; i++)
		merge(parents, device_of(all, collective, 0), device_of(all, collective, i));
}

/* Gives each set the number of its first device's place among the sets. */
static size_t number_sets(const uint32_t *parents, size_t n_devices, uint32_t *of)
{
	size_t n = 0;
	for (uint32_t d = 0; d < n_devices; d++) {
		uint32_t root = root_of(parents, d);
		of[d] = root == d ? (uint32_t)n++ : of[root];
	}
	return n;
}

static size_t stages_of_communicators(const struct tp_collectives *all, uint32_t *of)
{
	size_t n_devices = all->analysis->n_devices;
	uint32_t *pipelines = singles(n_devices);
	uint32_t *stages = singles(n_devices);
	size_t n_exchanges = 0;
	for (size_t i = 0; i < all->n; i++) {
		if (!is_exchange(all, &all->items[i]))
			continue;
		merge_members(all, pipelines, &all->items[i]);
		n_exchanges++;
	}
	for (size_t i = 0; i < all->n; i++)
		if (!n_exchanges || (!is_exchange(all, &all->items[i]) &&
				     is_within_stage(all, pipelines, &all->items[i])))
			merge_members(all, stages, &all->items[i]);
	size_t n = number_sets(stages, n_devices, of);
	free(pipelines);
	free(stages);
	/* Ranks that neither send to each other nor sum anything together may do different work. */
	return n_exchanges || n == 1 ? n : 0;
}

/* ---- stages that the file names ---- */

static size_t stages_of_file(const struct tp_collectives *all, uint32_t *of)
{
	const struct tp_rank_analysis *analysis = all->analysis;
	const struct tp_run_info *run = &analysis->trace->run;
	size_t n = 0;
	for (size_t d = 0; d < analysis->n_devices; d++) {
		uint32_t rank = analysis->devices[d].rank;
		int64_t stage = rank < run->n_ranks ? run->ranks[rank].stage : -1;
		if (stage < 0 || stage >= TP_RANKS_MAX)
			return 0;
		of[d] = (uint32_t)stage;
		n = (size_t)stage >= n ? (size_t)stage + 1 : n;
	}
	return n;
}

size_t tp_rank_stages_find(const struct tp_collectives *all, uint32_t *of)
{
	size_t n = stages_of_file(all, of);
	return n ? n : stages_of_communicators(all, of);
}
