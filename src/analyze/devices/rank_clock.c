/* SPDX-License-Identifier: Apache-2.0 */
/* Aligns the clocks of ranks by the ends of their collectives. */
#include "analyze/numeric/stats.h"
#include "analyze/thresholds.h"
#include "collective_match.h"

#include "trainprof/base/memory.h"

#include <math.h>
#include <stdlib.h>

/* Offset of a rank's clock at a time, in whole ns. */
static int64_t offset_at(const struct tp_rank_clock *clock, int64_t time_ns)
{
	double offset = clock->base_ns + clock->slope * ((double)time_ns - clock->middle_ns);
	return (int64_t)(offset < 0 ? offset - 0.5 : offset + 0.5);
}

int64_t tp_collectives_aligned(const struct tp_collectives *all, uint32_t rank, uint64_t time_ns)
{
	return (int64_t)time_ns - offset_at(&all->clocks[rank], (int64_t)time_ns);
}

int64_t tp_collectives_local(const struct tp_collectives *all, uint32_t rank, int64_t time_ns)
{
	return time_ns + offset_at(&all->clocks[rank], time_ns);
}

/* End of a rank's collective, and its difference from the end on a known clock. */
struct pair {
	double time_ns;
	double difference_ns;
};

static int pair_order(const void *a, const void *b)
{
	double x = ((const struct pair *)a)->time_ns;
	double y = ((const struct pair *)b)->time_ns;
	return (x > y) - (x < y);
}

static size_t collect_pairs(const struct tp_collectives *all, uint32_t rank, struct pair *out)
{
	const struct tp_device_work *devices = all->analysis->devices;
	size_t n = 0;
	for (size_t i = 0; i < all->n; i++) {
		const struct tp_collective_part *own = NULL;
		const struct tp_collective_part *other = NULL;
		for (size_t k = 0; k < all->items[i].n; k++) {
			const struct tp_collective_part *part =
				&all->parts[all->items[i].first + k];
			if (devices[part->device].rank == rank)
				own = part;
			else if (!other && all->clocks[devices[part->device].rank].is_known)
				other = part;
		}
		if (!own || !other)
			continue;
		uint64_t end_ns = tp_comm_kernel_op(all, own->device, own->kernel)->end_ns;
		int64_t there_ns = tp_collectives_aligned(
			all, devices[other->device].rank,
			tp_comm_kernel_op(all, other->device, other->kernel)->end_ns);
		out[n++] = (struct pair){(double)end_ns, (double)end_ns - (double)there_ns};
	}
	qsort(out, n, sizeof(*out), pair_order);
	return n;
}

static double median_difference(const struct pair *pairs, size_t n)
{
	double *scratch = tp_alloc(n * sizeof(*scratch));
	for (size_t i = 0; i < n; i++)
		scratch[i] = pairs[i].difference_ns;
	double median = tp_stats_median(scratch, n);
	free(scratch);
	return median;
}

/* Fits the median; if that moves, the line through the medians of the first and the last third. */
static void fit_clock(struct tp_rank_clock *clock, const struct pair *pairs, size_t n)
{
	clock->is_known = true;
	clock->base_ns = median_difference(pairs, n);
	size_t third = n / 3;
	if (n >= TP_CLOCK_LINE_MIN) {
		double drift = median_difference(pairs + n - third, third) -
			       median_difference(pairs, third);
		double span_ns = pairs[n - 1 - third / 2].time_ns - pairs[third / 2].time_ns;
		clock->slope = fabs(drift) > TP_SAME_CLOCK_NS && span_ns > 0 ? drift / span_ns : 0;
		clock->middle_ns = pairs[n / 2].time_ns;
	}
	if (fpclassify(clock->slope) == FP_ZERO && fabs(clock->base_ns) < TP_SAME_CLOCK_NS)
		clock->base_ns = 0;
}

/* From the first rank on, aligns each rank that shares collectives with a rank whose clock is
 * known. */
static void align_clocks(struct tp_collectives *all)
{
	size_t n_ranks = all->analysis->n_ranks;
	struct pair *pairs = tp_alloc((all->n + 1) * sizeof(*pairs));
	for (uint32_t root = 0; root < n_ranks; root++) {
		if (all->clocks[root].is_known)
			continue;
		all->clocks[root].is_known = true;
		bool is_changed = true;
		while (is_changed) {
			is_changed = false;
			for (uint32_t rank = 0; rank < n_ranks; rank++) {
				if (all->clocks[rank].is_known)
					continue;
				size_t n = collect_pairs(all, rank, pairs);
				if (!n)
					continue;
				fit_clock(&all->clocks[rank], pairs, n);
				is_changed = true;
			}
		}
	}
	free(pairs);
}

/* If several devices arrive last at the same time, the first is used: devices are in the order of
 * ranks, which does not depend on the order of files if ranks have numbers. */
static void find_stragglers(struct tp_collectives *all)
{
	const struct tp_device_work *devices = all->analysis->devices;
	for (size_t i = 0; i < all->n; i++) {
		struct tp_collective *collective = &all->items[i];
		for (size_t k = 0; k < collective->n; k++) {
			const struct tp_collective_part *part = &all->parts[collective->first + k];
			int64_t start_ns = tp_collectives_aligned(
				all, devices[part->device].rank,
				tp_comm_kernel_op(all, part->device, part->kernel)->start_ns);
			if (k && start_ns <= collective->arrival_ns)
				continue;
			collective->arrival_ns = start_ns;
			collective->late = part->device;
		}
	}
}

void tp_collectives_align(struct tp_collectives *all)
{
	align_clocks(all);
	find_stragglers(all);
}
