/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer of the ring described in trainprof/wire/gpu_ring.h: creates the file, appends events
 * and the tables that they refer to. It never waits: an event without room is dropped and counted.
 *
 * Threads: one at a time (the caller holds a lock), except for the words that the contract gives to
 * the reader. A forked child has no mapping and must not call anything here; ask
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
	struct tp_gpu_ring_header *header; /* NULL = not open */
	struct tp_gpu_event *events;
	struct tp_gpu_clock *clocks;
	struct tp_gpu_place *places;
	char *names;
	uint32_t *is_ours; /* in a page that reads 0 in every forked child */
	uint64_t n_events; /* as in the header, which others could change */
	uint64_t head;     /* events written; the file's head follows at publish() */
	uint64_t tail;     /* the reader's tail when it was last read */
	uint64_t n_gone;   /* events dropped since the last event that fitted */
	int fd;            /* open until there is room for events; then -1, unless it is nameless */
	bool is_nameless;  /* the descriptor is the only reference to the file and stays open */
	dev_t device;      /* device and inode that `fd` must have */
	ino_t inode;
};

/* Creates the file in the directory, or a memfd if that is NULL, and maps it, with room for
 * everything but events. Returns 0 or an errno, which a file in the directory reports to the
 * reader. `n_events` is a power of two. */
int tp_ring_writer_create(struct tp_ring_writer *out, const char *directory, uint32_t n_events);

/* Makes room for events. Returns 0 or an errno (ENOSPC: less than twice that is free; EBADF: the
 * program has closed our descriptor). A repeated call does nothing, or restores room where the
 * reader has punched holes. */
int tp_ring_writer_reserve(struct tp_ring_writer *ring);

/* Prepares a nameless ring for another reader: nothing unread, no counts, as if just created; names
 * and places stay. Returns 0 or EBADF. */
int tp_ring_writer_reset(struct tp_ring_writer *ring);

/* Returns false in any forked child, and before create(). Any thread. */
bool tp_ring_writer_is_ours(const struct tp_ring_writer *ring);

/* Appends a small group of events: all of them or, counted, none. They become visible with
 * publish(). Needs room for events. */
void tp_ring_writer_append(struct tp_ring_writer *ring, const struct tp_gpu_event *events,
			   size_t n);
void tp_ring_writer_publish(struct tp_ring_writer *ring);

/* Counts events of ranges that were dropped before they came here; a LOST event reports them before
 * the next event that fits. */
void tp_ring_writer_add_lost(struct tp_ring_writer *ring, uint64_t n);

/* Appends a name of `length` bytes without the NUL. Returns its id; 0, counted, if there is no
 * room. */
uint32_t tp_ring_writer_add_name(struct tp_ring_writer *ring, const char *text, size_t length);

/* Appends a place. Returns its number; 0 if there is no room. */
uint16_t tp_ring_writer_add_place(struct tp_ring_writer *ring, uint32_t device, uint32_t context,
				  uint32_t stream);
void tp_ring_writer_add_clock(struct tp_ring_writer *ring, const struct tp_gpu_clock *pair);

/* Returns the text of a name that was added. Borrowed, for good. */
const char *tp_ring_writer_name(const struct tp_ring_writer *ring, uint32_t id);

/* Stores with release order, after the explanation was written. Any thread, but one at a time. */
void tp_ring_writer_set_state(struct tp_ring_writer *ring, enum tp_gpu_state state);
enum tp_gpu_state tp_ring_writer_state(const struct tp_ring_writer *ring);

/* Unmaps the file. For tests: the agent keeps the mapping for good. */
void tp_ring_writer_close(struct tp_ring_writer *ring);

#endif
