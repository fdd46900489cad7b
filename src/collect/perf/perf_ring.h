/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One CPU's ring of records, shared with the kernel: it moves the head, we move the tail.
 *
 * 	data_tail ......... data_head      bytes since the ring was created; index = modulo size
 * 	    |  next              |
 * 	    v    v               v
 * 	----[done|seen and not taken]----
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
	uint64_t head;     /* last value read */
	uint64_t next;     /* first record that was not read */
	uint64_t key_ns;   /* time of the last record read; earlier times count as this one */
	uint64_t n_broken; /* times the bytes made no sense and all pending bytes were dropped */
	bool has_events;   /* records contain their event's id (struct tp_perf_layout); false after
			      map */
	uint8_t *scratch;  /* for a record that wraps around the end; may be NULL until then */
	size_t map_bytes;  /* 0 if page and data are not mapped by us */
};

/* Maps `n_pages` (a power of two) of the event's ring. Returns 0 or an errno. */
int tp_perf_ring_map(struct tp_perf_ring *out, int fd, size_t n_pages);
/* Sets up a ring in ordinary memory, for tests; `page` has data_head and data_tail set. */
void tp_perf_ring_init(struct tp_perf_ring *out, struct perf_event_mmap_page *page, void *data,
		       size_t size);
void tp_perf_ring_unmap(struct tp_perf_ring *ring);

/* Reads how far the kernel has written; returns how full the ring is, 0..1. */
double tp_perf_ring_refresh(struct tp_perf_ring *ring);
/* Returns the next record and consumes it: whole, aligned to 8, valid until the next call or
 * consume. NULL if there is none. */
const void *tp_perf_ring_next(struct tp_perf_ring *ring, size_t *size);
/* Calls `see` for up to `most` records that are in the ring now and not read yet, and consumes
 * none: each is valid until `see` returns. */
typedef void tp_perf_ring_record_fn(void *context, const void *record, size_t size);
void tp_perf_ring_peek(struct tp_perf_ring *ring, size_t most, tp_perf_ring_record_fn *see,
		       void *context);
/* Returns the space of the records that were read to the kernel. */
void tp_perf_ring_consume(struct tp_perf_ring *ring);

/*
 * Merges the records of all rings in the order of time. Between 0.2 and 4 % of switch records come
 * out of order, by up to 600 ms, if rings are read one after another.
 *
 * A record is returned only if it is older than a horizon, which the caller sets some time before
 * the moment of reading: records that still appear in a ring are younger than that.
 */

struct tp_perf_ring_merge {
	struct tp_perf_ring *rings; /* borrowed */
	size_t n_rings;
	uint32_t *heap; /* rings that have a record, the oldest first */
	uint64_t *times_ns;
	size_t n_heap;
	double fill; /* of the fullest ring at the last refresh */
};

void tp_perf_ring_merge_init(struct tp_perf_ring_merge *merge, struct tp_perf_ring *rings,
			     size_t n_rings);
void tp_perf_ring_merge_release(struct tp_perf_ring_merge *merge);

/* Refreshes all rings. */
void tp_perf_ring_merge_refresh(struct tp_perf_ring_merge *merge);
/* Returns the oldest record that is not younger than the horizon; NULL if there is none. Valid
 * until the next call. *ring is its ring. */
const void *tp_perf_ring_merge_next(struct tp_perf_ring_merge *merge, uint64_t horizon_ns,
				    size_t *size, size_t *ring);
/* Returns the space in all rings to the kernel. */
void tp_perf_ring_merge_consume(struct tp_perf_ring_merge *merge);

#endif
