/* Merges rings by time with a heap of their next records. */
#include "perf_ring_merge.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>

void tp_perf_merge_init(struct tp_perf_merge *merge, struct tp_perf_ring *rings, size_t n_rings)
{
	*merge = (struct tp_perf_merge){.rings = rings, .n_rings = n_rings};
	merge->heap = tp_alloc((n_rings + 1) * sizeof(*merge->heap));
	merge->times_ns = tp_alloc((n_rings + 1) * sizeof(*merge->times_ns));
}

void tp_perf_merge_release(struct tp_perf_merge *merge)
{
	free(merge->heap);
	free(merge->times_ns);
	*merge = (struct tp_perf_merge){0};
}

/* Equal times go by ring, so that the order does not depend on the heap's history. */
static bool comes_before(const struct tp_perf_merge *merge, uint32_t a, uint32_t b)
{
	if (merge->times_ns[a] != merge->times_ns[b])
		return merge->times_ns[a] < merge->times_ns[b];
	return a < b;
}

static void heap_sink(struct tp_perf_merge *merge, size_t i)
{
	uint32_t moving = merge->heap[i];
	for (;;) {
		size_t child = 2 * i + 1;
		if (child >= merge->n_heap)
			break;
		if (child + 1 < merge->n_heap &&
		    comes_before(merge, merge->heap[child + 1], merge->heap[child]))
			child++;
		if (!comes_before(merge, merge->heap[child], moving))
			break;
		merge->heap[i] = merge->heap[child];
		i = child;
	}
	merge->heap[i] = moving;
}

void tp_perf_merge_look(struct tp_perf_merge *merge)
{
	merge->n_heap = 0;
	merge->fill = 0;
	for (size_t i = 0; i < merge->n_rings; i++) {
		double fill = tp_perf_ring_look(&merge->rings[i]);
		if (fill > merge->fill)
			merge->fill = fill;
		if (tp_perf_ring_peek(&merge->rings[i], &merge->times_ns[i]))
			merge->heap[merge->n_heap++] = (uint32_t)i;
	}
	for (size_t i = merge->n_heap / 2; i-- > 0;)
		heap_sink(merge, i);
}

const void *tp_perf_merge_take(struct tp_perf_merge *merge, uint64_t horizon_ns, size_t *size,
			       size_t *ring)
{
	if (merge->n_heap == 0)
		return NULL;
	uint32_t oldest = merge->heap[0];
	if (merge->times_ns[oldest] > horizon_ns)
		return NULL;
	const void *record = tp_perf_ring_take(&merge->rings[oldest], size);
	if (!tp_perf_ring_peek(&merge->rings[oldest], &merge->times_ns[oldest]))
		merge->heap[0] = merge->heap[--merge->n_heap];
	if (merge->n_heap)
		heap_sink(merge, 0);
	*ring = oldest;
	return record;
}

void tp_perf_merge_give_back(struct tp_perf_merge *merge)
{
	for (size_t i = 0; i < merge->n_rings; i++)
		tp_perf_ring_give_back(&merge->rings[i]);
}
