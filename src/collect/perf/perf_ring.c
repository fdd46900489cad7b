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

/* All that was seen makes no sense: start again behind it. */
static void ring_break(struct tp_perf_ring *ring)
{
	ring->n_broken++;
	ring->next = ring->head;
}

double tp_perf_ring_look(struct tp_perf_ring *ring)
{
	/* Pairs with the kernel's barrier before it moves the head: records before it are whole. */
	ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	if (ring->head - ring->next > ring->size)
		ring_break(ring);
	return (double)(ring->head - ring->page->data_tail) / (double)ring->size;
}

/* Records and the ring are multiples of 8 long, so no word goes around the end. */
static uint64_t ring_word(const struct tp_perf_ring *ring, uint64_t at)
{
	uint64_t word;
	memcpy(&word, ring->data + (at & (ring->size - 1)), sizeof(word));
	return word;
}

/* The header of the next record, checked; false when there is none. */
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

bool tp_perf_ring_peek(struct tp_perf_ring *ring, uint64_t *time_ns)
{
	struct perf_event_header header;
	if (!ring_header(ring, &header))
		return false;
	size_t offset = tp_perf_record_time_offset(header.type, header.size, ring->has_events);
	uint64_t time = offset ? ring_word(ring, ring->next + offset) : 0;
	*time_ns = time > ring->key_ns ? time : ring->key_ns;
	return true;
}

const void *tp_perf_ring_take(struct tp_perf_ring *ring, size_t *size)
{
	struct perf_event_header header;
	uint64_t time_ns;
	if (!tp_perf_ring_peek(ring, &time_ns) || !ring_header(ring, &header))
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

void tp_perf_ring_give_back(struct tp_perf_ring *ring)
{
	/* The kernel may overwrite what lies before the tail: all reads must be over. */
	__atomic_store_n(&ring->page->data_tail, ring->next, __ATOMIC_RELEASE);
}
