/* SPDX-License-Identifier: Apache-2.0 */
/* Reads records out of a perf ring in place. */
#include "perf_ring.h"

#include "perf_decode.h"

#include "trainprof/base/memory.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int tp_perf_ring_map(struct tp_perf_ring *out, int fd, size_t n_pages)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = (n_pages + 1) * page_bytes;
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return errno;
	tp_perf_ring_init(out, map, (char *)map + page_bytes, bytes - page_bytes);
	out->map_bytes = bytes;
	return 0;
}

void tp_perf_ring_init(struct tp_perf_ring *out, struct perf_event_mmap_page *page, void *data,
		       size_t size)
{
	*out = (struct tp_perf_ring){.page = page, .data = data, .size = size};
	out->next = out->head = page->data_tail;
}

void tp_perf_ring_unmap(struct tp_perf_ring *ring)
{
	if (ring->map_bytes)
		munmap(ring->page, ring->map_bytes);
	free(ring->scratch);
	*ring = (struct tp_perf_ring){0};
}

/* Nothing that was read makes sense: restart after it. */
static void ring_break(struct tp_perf_ring *ring)
{
	ring->n_broken++;
	ring->next = ring->head;
}

double tp_perf_ring_refresh(struct tp_perf_ring *ring)
{
	/* Pairs with the kernel's barrier before it moves the head: records before the head are
	 * complete. */
	ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	if (ring->head - ring->next > ring->size)
		ring_break(ring);
	return (double)(ring->head - ring->page->data_tail) / (double)ring->size;
}

/* Record sizes and the ring size are multiples of 8, so no word wraps around the end. */
static uint64_t ring_word(const struct tp_perf_ring *ring, uint64_t at)
{
	uint64_t word;
	memcpy(&word, ring->data + (at & (ring->size - 1)), sizeof(word));
	return word;
}

/* Reads and checks the header of the next record; false if there is none. */
static bool ring_header(struct tp_perf_ring *ring, struct perf_event_header *out)
{
	if (ring->next >= ring->head)
		return false;
	uint64_t word = ring_word(ring, ring->next);
	memcpy(out, &word, sizeof(*out));
	if (out->size >= sizeof(*out) && out->size % sizeof(word) == 0 &&
	    out->size <= ring->head - ring->next)
		return true;
	ring_break(ring);
	return false;
}

static bool ring_peek(struct tp_perf_ring *ring, uint64_t *time_ns)
{
	struct perf_event_header header;
	if (!ring_header(ring, &header))
		return false;
	size_t offset = tp_perf_record_time_offset(header.type, header.size, ring->has_events);
	uint64_t time = offset ? ring_word(ring, ring->next + offset) : 0;
	*time_ns = time > ring->key_ns ? time : ring->key_ns;
	return true;
}

const void *tp_perf_ring_next(struct tp_perf_ring *ring, size_t *size)
{
	struct perf_event_header header;
	uint64_t time_ns;
	if (!ring_peek(ring, &time_ns) || !ring_header(ring, &header))
		return NULL;
	ring->key_ns = time_ns;
	*size = header.size;
	size_t start = (size_t)(ring->next & (ring->size - 1));
	const uint8_t *record = ring->data + start;
	if (start + header.size > ring->size) {
		if (!ring->scratch)
			ring->scratch = tp_alloc(TP_PERF_MAX_RECORD);
		size_t n_first = ring->size - start;
		memcpy(ring->scratch, record, n_first);
		memcpy(ring->scratch + n_first, ring->data, header.size - n_first);
		record = ring->scratch;
	}
	ring->next += header.size;
	return record;
}

void tp_perf_ring_peek(struct tp_perf_ring *ring, size_t most, tp_perf_ring_record_fn *see,
		       void *context)
{
	struct tp_perf_ring ahead = *ring;
	const void *record;
	size_t size;
	(void)tp_perf_ring_refresh(&ahead);
	for (size_t n = 0; n < most && (record = tp_perf_ring_next(&ahead, &size)); n++)
		see(context, record, size);
	ring->scratch = ahead.scratch;
}

void tp_perf_ring_consume(struct tp_perf_ring *ring)
{
	/* The kernel may overwrite everything before the tail: all reads must be finished. */
	__atomic_store_n(&ring->page->data_tail, ring->next, __ATOMIC_RELEASE);
}

void tp_perf_ring_merge_init(struct tp_perf_ring_merge *merge, struct tp_perf_ring *rings,
			     size_t n_rings)
{
	*merge = (struct tp_perf_ring_merge){.rings = rings, .n_rings = n_rings};
	merge->heap = tp_alloc((n_rings + 1) * sizeof(*merge->heap));
	merge->times_ns = tp_alloc((n_rings + 1) * sizeof(*merge->times_ns));
}

void tp_perf_ring_merge_release(struct tp_perf_ring_merge *merge)
{
	free(merge->heap);
	free(merge->times_ns);
	*merge = (struct tp_perf_ring_merge){0};
}

/* Equal times are ordered by ring, so that the order does not depend on the heap's history. */
static bool is_before(const struct tp_perf_ring_merge *merge, uint32_t a, uint32_t b)
{
	if (merge->times_ns[a] != merge->times_ns[b])
		return merge->times_ns[a] < merge->times_ns[b];
	return a < b;
}

static void heap_sift_down(struct tp_perf_ring_merge *merge, size_t i)
{
	uint32_t moving = merge->heap[i];
	for (;;) {
		size_t child = 2 * i + 1;
		if (child >= merge->n_heap)
			break;
		if (child + 1 < merge->n_heap &&
		    is_before(merge, merge->heap[child + 1], merge->heap[child]))
			child++;
		if (!is_before(merge, merge->heap[child], moving))
			break;
		merge->heap[i] = merge->heap[child];
		i = child;
	}
	merge->heap[i] = moving;
}

void tp_perf_ring_merge_refresh(struct tp_perf_ring_merge *merge)
{
	merge->n_heap = 0;
	merge->fill = 0;
	for (size_t i = 0; i < merge->n_rings; i++) {
		double fill = tp_perf_ring_refresh(&merge->rings[i]);
		if (fill > merge->fill)
			merge->fill = fill;
		if (ring_peek(&merge->rings[i], &merge->times_ns[i]))
			merge->heap[merge->n_heap++] = (uint32_t)i;
	}
	for (size_t i = merge->n_heap / 2; i-- > 0;)
		heap_sift_down(merge, i);
}

const void *tp_perf_ring_merge_next(struct tp_perf_ring_merge *merge, uint64_t horizon_ns,
				    size_t *size, size_t *ring)
{
	if (merge->n_heap == 0)
		return NULL;
	uint32_t oldest = merge->heap[0];
	if (merge->times_ns[oldest] > horizon_ns)
		return NULL;
	const void *record = tp_perf_ring_next(&merge->rings[oldest], size);
	if (!ring_peek(&merge->rings[oldest], &merge->times_ns[oldest]))
		merge->heap[0] = merge->heap[--merge->n_heap];
	if (merge->n_heap)
		heap_sift_down(merge, 0);
	*ring = oldest;
	return record;
}

void tp_perf_ring_merge_consume(struct tp_perf_ring_merge *merge)
{
	for (size_t i = 0; i < merge->n_rings; i++)
		tp_perf_ring_consume(&merge->rings[i]);
}
