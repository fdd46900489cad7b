/* SPDX-License-Identifier: Apache-2.0 */
/* Reads ring files at rest and checks them against the contract. */
#ifndef TRAINPROF_TESTS_AGENT_RINGREADING_H
#define TRAINPROF_TESTS_AGENT_RINGREADING_H

#include "trainprof/wire/gpu_ring.h"

#include <check.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ring_reading {
	char *bytes;
	size_t size;
	const struct tp_gpu_ring_header *header;
	const struct tp_gpu_event *events; /* n events, from the oldest that may remain */
	size_t n;
	uint64_t n_of[TP_GPU_EVENT_TYPES];
	uint64_t n_lost; /* sum over the LOST events */
};

/* Creates a directory for one test; freed by ring_forget_directory(). */
static inline char *ring_directory(void)
{
	char *path = strdup("/tmp/trainprof-agent-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(path));
	return path;
}

static inline void ring_remove_directory(char *path)
{
	char pattern[600];
	glob_t found;
	snprintf(pattern, sizeof(pattern), "%s/*", path);
	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			unlink(found.gl_pathv[i]);
		globfree(&found);
	}
	rmdir(path);
	free(path);
}

/* Returns the number of rings in the directory; writes the path of the nth in order of their
 * names. */
static inline size_t ring_find(const char *directory, size_t nth, char *out, size_t size)
{
	char pattern[600];
	glob_t found;
	size_t n = 0;
	snprintf(pattern, sizeof(pattern), "%s/" TP_GPU_RING_PREFIX "*" TP_GPU_RING_SUFFIX,
		 directory);
	if (glob(pattern, 0, NULL, &found) == 0) {
		n = found.gl_pathc;
		if (nth < n)
			snprintf(out, size, "%s", found.gl_pathv[nth]);
		globfree(&found);
	}
	return n;
}

static inline const char *ring_name(const struct ring_reading *ring, uint32_t id)
{
	const struct tp_gpu_ring_header *header = ring->header;
	ck_assert_uint_gt(id, 0);
	ck_assert_uint_lt((id - 1) * 8, header->n_name_bytes);
	const void *at = ring->bytes + header->names_at + (size_t)(id - 1) * 8;
	const struct tp_gpu_name *name = at;
	ck_assert_uint_le(name->length, TP_GPU_NAME_MAX);
	ck_assert_uint_eq(name->text[name->length], 0);
	return name->text;
}

static inline const struct tp_gpu_place *ring_place(const struct ring_reading *ring,
						    uint16_t number)
{
	ck_assert_uint_gt(number, 0);
	ck_assert_uint_le(number, ring->header->n_places);
	const void *places = ring->bytes + ring->header->places_at;
	return (const struct tp_gpu_place *)places + (number - 1);
}

static inline const struct tp_gpu_clock *ring_clock(const struct ring_reading *ring, uint64_t pair)
{
	const void *clocks = ring->bytes + ring->header->clocks_at;
	return (const struct tp_gpu_clock *)clocks + (pair & (ring->header->n_clocks - 1));
}

/* Checks the rules that any event must follow. */
static inline void ring_check_event(const struct ring_reading *ring,
				    const struct tp_gpu_event *event)
{
	ck_assert_uint_gt(event->type, TP_GPU_EVENT_NONE);
	ck_assert_uint_le(event->type, TP_GPU_EVENT_PAYLOAD);
	if (event->type == TP_GPU_EVENT_KERNEL || event->type == TP_GPU_EVENT_CALL)
		(void)ring_name(ring, event->id);
	if (event->type == TP_GPU_EVENT_KERNEL)
		(void)ring_place(ring, event->place);
	if (event->type <= TP_GPU_EVENT_OVERHEAD)
		ck_assert_uint_gt(event->t0, 0);
}

static inline void ring_count(struct ring_reading *ring)
{
	for (size_t i = 0; i < ring->n; i++) {
		const struct tp_gpu_event *event = &ring->events[i];
		ring_check_event(ring, event);
		ring->n_of[event->type]++;
		if (event->type == TP_GPU_EVENT_LOST)
			ring->n_lost += event->x;
	}
}

/* Events are checked only if all of them are still there. */
static inline void ring_load(struct ring_reading *out, const char *path)
{
	FILE *file = fopen(path, "rb");
	ck_assert_ptr_nonnull(file);
	*out = (struct ring_reading){0};
	fseek(file, 0, SEEK_END);
	out->size = (size_t)ftell(file);
	rewind(file);
	out->bytes = malloc(out->size);
	ck_assert_uint_eq(fread(out->bytes, 1, out->size, file), out->size);
	fclose(file);
	const void *start = out->bytes;
	out->header = start;
	ck_assert_uint_ge(out->size, TP_GPU_RING_HEADER_BYTES);
	ck_assert(out->header->magic == TP_GPU_RING_MAGIC);
	ck_assert_uint_eq(out->header->major, TP_GPU_RING_MAJOR);
	ck_assert_uint_eq(out->header->event_bytes, sizeof(struct tp_gpu_event));
	ck_assert_uint_le(out->header->n_name_bytes, out->header->names_bytes);
	const void *events = out->bytes + out->header->events_at;
	out->events = events;
	if (out->header->head <= out->header->n_events)
		out->n = out->header->head;
	ck_assert_uint_ge(out->size, out->header->events_at + out->n * sizeof(*out->events));
	ring_count(out);
}

static inline uint64_t ring_dropped(const struct ring_reading *ring)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < TP_GPU_EVENT_TYPES; i++)
		sum += ring->header->n_dropped[i];
	return sum;
}

static inline void ring_free(struct ring_reading *ring)
{
	free(ring->bytes);
	*ring = (struct ring_reading){0};
}

#endif
