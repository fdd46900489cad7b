/* SPDX-License-Identifier: Apache-2.0 */
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
double tp_perf_ring_refresh(struct tp_perf_ring *ring);
/* Take it: whole, aligned to 8, valid until the next take or give-back. NULL when there is none. */
const void *tp_perf_ring_next(struct tp_perf_ring *ring, size_t *size);
/* See up to `most` records that were not taken, as of now, and take none: each is valid until `see`
 * returns. */
typedef void tp_perf_ring_record_fn(void *context, const void *record, size_t size);
void tp_perf_ring_peek(struct tp_perf_ring *ring, size_t most, tp_perf_ring_record_fn *see,
		       void *context);
/* Give the room of what was taken back to the kernel. */
void tp_perf_ring_consume(struct tp_perf_ring *ring);

/*
 * The records of all rings in the order of time. Between 0.2 and 4 % of switch records come out of
 * order, by up to 600 ms, when rings are read one after another.
 *
 * A record is handed out only when it is older than a horizon that the caller sets behind the
 * moment of looking: what will still appear in a ring is younger than that.
 */

struct tp_perf_ring_merge {
	struct tp_perf_ring *rings; /* borrowed */
	size_t n_rings;
	uint32_t *heap; /* rings that have a record, the oldest on top */
	uint64_t *times_ns;
	size_t n_heap;
	double fill; /* of the fullest ring when last looked */
};

void tp_perf_ring_merge_init(struct tp_perf_ring_merge *merge, struct tp_perf_ring *rings,
			     size_t n_rings);
void tp_perf_ring_merge_release(struct tp_perf_ring_merge *merge);

/* See what is in the rings now. */
void tp_perf_ring_merge_refresh(struct tp_perf_ring_merge *merge);
/* The oldest record that is not younger than the horizon; NULL when there is none. Valid until the
 * next call. *ring is its ring. */
const void *tp_perf_ring_merge_next(struct tp_perf_ring_merge *merge, uint64_t horizon_ns,
				    size_t *size, size_t *ring);
/* Give all rings their room back. */
void tp_perf_ring_merge_consume(struct tp_perf_ring_merge *merge);

#endif
