/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges that the program and its libraries name by NVTX, from their threads into the ring.
 *
 * Threads: all but init and drain run in the threads of the program, also in handlers of signals:
 * they take no lock for long, allocate nothing, print nothing, and in a forked child do nothing.
 * Events wait in a queue until drained. Where more come than are kept for long, ranges in ranges
 * are left out and counted, then others; of a range that is left out its end is, too.
 *
 * There is one of it in a process, as NVTX's functions have no context.
 */
#ifndef TRAINPROF_SRC_AGENT_NVTX_NVTX_RANGES_H
#define TRAINPROF_SRC_AGENT_NVTX_NVTX_RANGES_H

#include "agent/ring/ring_writer.h"
#include "nvtx_abi.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

/* One of them, or none: a range without a name. Attributes that are too short count as none. */
struct tp_nvtx_range_message {
	const char *ascii;
	const wchar_t *wide;
	const struct nvtx_attributes *attributes;
};

/* Once, before anything else. Both are borrowed for good; `lock` is that of the ring, and nobody
 * may hold it for long. False: ranges cannot be told. */
bool tp_nvtx_ranges_init(struct tp_ring_writer *ring, pthread_mutex_t *lock);

/* Handles, valid for good and in forked children: of a domain, of a text that is used often.
 * NULL: there is no room for the text. */
void *tp_nvtx_range_domain(const struct tp_nvtx_range_message *name);
void *tp_nvtx_range_register(const struct tp_nvtx_range_message *message);

/* `domain` is any handle or NULL. A payload is told in the domain "NCCL" only; NULL: that of the
 * attributes, if they have one. Both return NVTX_NO_LEVELS. */
int tp_nvtx_range_push(const void *domain, const struct tp_nvtx_range_message *message,
		       const struct nvtx_payload *payload);
int tp_nvtx_range_pop(const void *domain, const struct nvtx_payload *payload);

/* A range that any thread may end. 0: it is not told, and its end will not be. */
uint64_t tp_nvtx_range_start(const struct tp_nvtx_range_message *message);
void tp_nvtx_range_end(uint64_t range);

void tp_nvtx_range_mark(const void *domain, const struct tp_nvtx_range_message *message);

/*
 * Bring what waits into the ring; the lock is taken for a few events at a time. `makes_room`: the
 * caller is the agent's thread, which may take milliseconds to make room for events in the ring.
 * What finds no room is counted.
 */
void tp_nvtx_ranges_drain(uint64_t at_ns, bool makes_room);

/* Is it time to drain? */
bool tp_nvtx_ranges_need_drain(void);

#endif
