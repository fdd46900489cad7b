/*
 * One CPU's ring of records, shared with the kernel: it moves the head, we move the tail.
 *
 *	data_tail ......... data_head      bytes since the ring was made; the place is modulo size
 *	    |  next              |
 *	    v    v               v
 *	----[done|seen and not taken]----
 */
#ifndef TRAINPROF_SRC_COLLECT_PERF_PERF_RING_H
#define TRAINPROF_SRC_COLLECT_PERF_PERF_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_mmap_page;

struct tp_perf_ring {
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	size_t size;       /* of data: a power of two */
	uint64_t head;     /* as last seen */
	uint64_t next;     /* first record not taken */
	uint64_t key_ns;   /* time of the last record taken; times below it count as it */
	uint64_t n_broken; /* times the bytes made no sense and all that was seen was dropped */
	bool has_events;   /* records tell their event (struct tp_perf_layout); false after map */
	uint8_t *scratch;  /* for a record that goes around the end; may be NULL until then */
	size_t map_bytes;  /* 0 when page and data are not mapped by us */
};

/* Map `n_pages` (a power of two) of the event's ring. Returns 0 or an errno. */
int tp_perf_ring_map(struct tp_perf_ring *out, int fd, size_t n_pages);
/* A ring in ordinary memory, for tests; `page` has data_head and data_tail set. */
void tp_perf_ring_init(struct tp_perf_ring *out, struct perf_event_mmap_page *page, void *data,
		       size_t size);
void tp_perf_ring_unmap(struct tp_perf_ring *ring);

/* See what the kernel has written; returns how full the ring is, 0..1. */
double tp_perf_ring_look(struct tp_perf_ring *ring);
/* Time of the next seen record, never below the one before; false when there is none. */
bool tp_perf_ring_peek(struct tp_perf_ring *ring, uint64_t *time_ns);
/* Take it: whole, aligned to 8, valid until the next take or give-back. NULL when there is none. */
const void *tp_perf_ring_take(struct tp_perf_ring *ring, size_t *size);
/* Give the room of what was taken back to the kernel. */
void tp_perf_ring_give_back(struct tp_perf_ring *ring);

#endif
