/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writing end of the ring of trainprof/wire/gpu_ring.h: makes the file, appends events and the
 * tables that they point into. It never waits: what finds no room is dropped and counted.
 *
 * Threads: one at a time (the caller has a lock), except for the words that the contract gives to
 * the reader. A forked child has no mapping and must not call anything here: ask
 * tp_ring_writer_is_ours() first.
 */
#ifndef TRAINPROF_SRC_AGENT_RING_RING_WRITER_H
#define TRAINPROF_SRC_AGENT_RING_RING_WRITER_H

#include "trainprof/wire/gpu_ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tp_ring_writer {
	struct tp_gpu_ring_header *header; /* NULL: not open */
	struct tp_gpu_event *events;
	struct tp_gpu_clock *clocks;
	struct tp_gpu_place *places;
	char *names;
	uint32_t *is_ours; /* in a page that reads 0 in every forked child */
	uint64_t n_events; /* as in the header, where others could change it */
	uint64_t head;     /* events written; the file's head is behind until publish() */
	uint64_t tail;     /* the reader's, when it was last looked at */
	uint64_t n_gone;   /* dropped since the last event that fitted */
	int fd;            /* until there is room for events; then -1, unless it has no name */
	bool is_nameless;  /* the descriptor is all there is of the file, and stays */
	dev_t device;      /* of the file, and its inode: what `fd` must be */
	ino_t inode;
};

/*
 * Make the file in the directory, or a memfd where that is NULL, and map it; there is room for all
 * but events. Returns 0 or an errno. `n_events` is a power of two.
 */
int tp_ring_writer_create(struct tp_ring_writer *out, const char *directory, uint32_t n_events);

/* Make room for events. 0, or an errno (no space; EBADF: the program has closed our descriptor).
 * Again does nothing, or makes room once more in what the reader has cut holes into. */
int tp_ring_writer_reserve(struct tp_ring_writer *ring);

/* For another reader of a nameless one: nothing unread, no counts, as if just made; names and
 * places stay. 0 or EBADF. */
int tp_ring_writer_reset(struct tp_ring_writer *ring);

/* False in a child that was forked, however it was, and before create(). From any thread. */
bool tp_ring_writer_is_ours(const struct tp_ring_writer *ring);

/*
 * Append events that belong together, a few: all of them or, counted, none. They become visible
 * with publish(). Needs room for events.
 */
void tp_ring_writer_append(struct tp_ring_writer *ring, const struct tp_gpu_event *events,
			   size_t n);
void tp_ring_writer_publish(struct tp_ring_writer *ring);

/* So many events of ranges were dropped before they came here: counted, and told by a LOST event
 * before the next one that fits. */
void tp_ring_writer_add_lost(struct tp_ring_writer *ring, uint64_t n);

/* Append a name of `length` bytes, NUL not counted. Its id; 0, counted: no room. */
uint32_t tp_ring_writer_add_name(struct tp_ring_writer *ring, const char *text, size_t length);

/* Append a place. Its number; 0: no room. */
uint16_t tp_ring_writer_add_place(struct tp_ring_writer *ring, uint32_t device, uint32_t context,
				  uint32_t stream);
void tp_ring_writer_add_clock(struct tp_ring_writer *ring, const struct tp_gpu_clock *pair);

/* Text of a name that was added. Borrowed, for good. */
const char *tp_ring_writer_name(const struct tp_ring_writer *ring, uint32_t id);

/* With release: after what explains it. From any thread but one at a time. */
void tp_ring_writer_set_state(struct tp_ring_writer *ring, enum tp_gpu_state state);
enum tp_gpu_state tp_ring_writer_state(const struct tp_ring_writer *ring);

/* Take the file's mapping away again. For tests: the agent keeps it for good. */
void tp_ring_writer_close(struct tp_ring_writer *ring);

#endif
