/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a GPU ring as an agent does (trainprof/wire/gpu_ring.h), with events that a test or a
 * program chooses. One thread; libc only. CUPTI's clock is ours plus `skew_ns`. */
#ifndef TRAINPROF_TESTS_UNIT_COLLECT_SCRIPTRING_H
#define TRAINPROF_TESTS_UNIT_COLLECT_SCRIPTRING_H

#include "trainprof/wire/gpu_ring.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { RING_CLOCKS = 16, RING_PLACES = 8, RING_NAME_BYTES = 4096 };

struct ring_writer {
	char path[256];
	struct tp_gpu_ring_header *header;
	char *file;
	uint64_t skew_ns;
	uint64_t n_unsaid; /* events dropped since the last LOST event */
};

static inline uint64_t ring_now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Creates the ring in that directory; `number` is N of the file name. Returns 0 if it cannot be
 * created. */
static inline int ring_begin(struct ring_writer *w, const char *directory, unsigned number,
			     uint32_t n_events)
{
	const uint32_t clocks_at = TP_GPU_RING_HEADER_BYTES;
	const uint32_t places_at = clocks_at + RING_CLOCKS * (uint32_t)sizeof(struct tp_gpu_clock);
	const uint32_t names_at = places_at + RING_PLACES * (uint32_t)sizeof(struct tp_gpu_place);
	const uint32_t events_at = names_at + RING_NAME_BYTES;
	const size_t size = events_at + (size_t)n_events * sizeof(struct tp_gpu_event);
	*w = (struct ring_writer){0};
	snprintf(w->path, sizeof(w->path), "%s/gpu-%d-1-%u.ring", directory, (int)getpid(), number);
	int fd = open(w->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)size) != 0)
		return 0;
	w->file = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (w->file == MAP_FAILED)
		return 0;
	w->header = (struct tp_gpu_ring_header *)(void *)w->file;
	*w->header = (struct tp_gpu_ring_header){
		.major = TP_GPU_RING_MAJOR,
		.minor = TP_GPU_RING_MINOR,
		.header_bytes = TP_GPU_RING_HEADER_BYTES,
		.event_bytes = sizeof(struct tp_gpu_event),
		.n_events = n_events,
		.events_at = events_at,
		.names_at = names_at,
		.names_bytes = RING_NAME_BYTES,
		.places_at = places_at,
		.n_places_most = RING_PLACES,
		.clocks_at = clocks_at,
		.n_clocks = RING_CLOCKS,
		.pid = (uint32_t)getpid(),
		.start_ticks = 1,
		.cupti_version = 130000,
		.state = TP_GPU_STATE_OPEN,
		.kinds = 1u << TP_GPU_EVENT_KERNEL,
	};
	__atomic_store_n(&w->header->magic, TP_GPU_RING_MAGIC, __ATOMIC_RELEASE);
	return 1;
}

/* Unmaps the ring; the file stays, as after the death of an agent. */
static inline void ring_end(struct ring_writer *w)
{
	const struct tp_gpu_ring_header *h = w->header;
	munmap(w->file, h->events_at + (size_t)h->n_events * h->event_bytes);
	w->header = NULL;
}

static inline uint32_t ring_name(struct ring_writer *w, const char *text)
{
	struct tp_gpu_ring_header *h = w->header;
	uint32_t at = h->n_name_bytes;
	uint32_t length = (uint32_t)strlen(text);
	memcpy(w->file + h->names_at + at, &length, sizeof(length));
	memcpy(w->file + h->names_at + at + sizeof(length), text, length + 1);
	uint32_t next = (at + (uint32_t)sizeof(length) + length + 1 + 7) & ~7u;
	__atomic_store_n(&h->n_name_bytes, next, __ATOMIC_RELEASE);
	return at / 8 + 1;
}

static inline uint16_t ring_place(struct ring_writer *w, uint32_t device, uint32_t stream)
{
	struct tp_gpu_ring_header *h = w->header;
	struct tp_gpu_place place = {.device = device, .context = 1, .stream = stream};
	memcpy(w->file + h->places_at + h->n_places * sizeof(place), &place, sizeof(place));
	__atomic_store_n(&h->n_places, h->n_places + 1, __ATOMIC_RELEASE);
	return (uint16_t)h->n_places;
}

static inline void ring_clock_at(struct ring_writer *w, uint64_t host_ns, uint64_t cupti_ns)
{
	struct tp_gpu_ring_header *h = w->header;
	struct tp_gpu_clock pair = {.host_ns = host_ns, .cupti_ns = cupti_ns, .error_ns = 40};
	uint64_t slot = h->n_clock_pairs & (h->n_clocks - 1);
	memcpy(w->file + h->clocks_at + slot * sizeof(pair), &pair, sizeof(pair));
	__atomic_store_n(&h->n_clock_pairs, h->n_clock_pairs + 1, __ATOMIC_RELEASE);
	h->heartbeat_ns = host_ns;
}

static inline void ring_clock(struct ring_writer *w)
{
	uint64_t now_ns = ring_now_ns();
	ring_clock_at(w, now_ns, now_ns + w->skew_ns);
}

static inline void ring_store(struct ring_writer *w, const struct tp_gpu_event *event)
{
	struct tp_gpu_ring_header *h = w->header;
	uint64_t slot = h->head & (h->n_events - 1);
	memcpy(w->file + h->events_at + slot * h->event_bytes, event, sizeof(*event));
	__atomic_store_n(&h->head, h->head + 1, __ATOMIC_RELEASE);
}

/* Drops an event that does not fit, and reports the number of dropped events before the next one
 * that fits. */
static inline void ring_event(struct ring_writer *w, const struct tp_gpu_event *event)
{
	struct tp_gpu_ring_header *h = w->header;
	uint64_t room = h->n_events - (h->head - __atomic_load_n(&h->tail, __ATOMIC_ACQUIRE));
	if (room < 1 + (w->n_unsaid > 0)) {
		h->n_dropped[event->type]++;
		w->n_unsaid++;
		return;
	}
	if (w->n_unsaid)
		ring_store(w, &(struct tp_gpu_event){.type = TP_GPU_EVENT_LOST,
						     .flags = TP_GPU_FLAG_HOST_CLOCK,
						     .t0 = ring_now_ns(),
						     .x = w->n_unsaid});
	w->n_unsaid = 0;
	ring_store(w, event);
}

/* The arguments are times of the host's clock; they are written as times of CUPTI's clock. */
static inline void ring_work(struct ring_writer *w, unsigned type, uint16_t place, uint32_t id,
			     uint64_t start_ns, uint64_t end_ns, uint32_t link, uint64_t x)
{
	ring_event(w, &(struct tp_gpu_event){.type = (uint8_t)type,
					     .place = place,
					     .id = id,
					     .t0 = start_ns + w->skew_ns,
					     .dur = (uint32_t)(end_ns - start_ns),
					     .link = link,
					     .x = x});
}

/* Writes both ends of an NVTX range; NVTX events have times of the host's clock. */
static inline void ring_range(struct ring_writer *w, uint32_t name, uint32_t tid, uint64_t start_ns,
			      uint64_t end_ns)
{
	struct tp_gpu_event event = {.type = TP_GPU_EVENT_PUSH,
				     .flags = TP_GPU_FLAG_HOST_CLOCK,
				     .id = name,
				     .t0 = start_ns,
				     .x = tid};
	ring_event(w, &event);
	event.type = TP_GPU_EVENT_POP;
	event.id = 0;
	event.t0 = end_ns;
	ring_event(w, &event);
}

/* Writes an NCCL call: a range in the domain with that name, with three payload words. */
static inline void ring_nccl(struct ring_writer *w, uint32_t domain, uint32_t name, uint32_t tid,
			     uint32_t schema, const uint64_t words[3], uint64_t start_ns,
			     uint64_t end_ns)
{
	struct tp_gpu_event event = {.type = TP_GPU_EVENT_PUSH,
				     .flags = TP_GPU_FLAG_HOST_CLOCK,
				     .id = name,
				     .t0 = start_ns,
				     .x = tid | (uint64_t)domain << 32};
	ring_event(w, &event);
	for (uint16_t i = 0; i < 3 && schema; i++)
		ring_event(w, &(struct tp_gpu_event){.type = TP_GPU_EVENT_PAYLOAD,
						     .flags = TP_GPU_FLAG_HOST_CLOCK,
						     .place = i,
						     .id = (1 << 24) + schema,
						     .t0 = start_ns,
						     .dur = 24,
						     .x = words[i]});
	event.type = TP_GPU_EVENT_POP;
	event.id = 0;
	event.t0 = end_ns;
	ring_event(w, &event);
}

#endif
