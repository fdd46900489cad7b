/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records the ranges that the program and its libraries name with NVTX, from their threads into the
 * ring.
 *
 * Threads: all functions but init and drain run in the program's threads, also in signal handlers.
 * They hold no lock for long, allocate nothing, print nothing, and do nothing in a forked child.
 * Events wait in a queue until they are drained. When more events arrive than the queue can
 * sustain, nested ranges are left out first and counted, then others; the end of a range that was
 * left out is left out too.
 *
 * One per process, because NVTX's functions carry no context.
 */
#ifndef TRAINPROF_SRC_AGENT_NVTX_NVTX_RANGES_H
#define TRAINPROF_SRC_AGENT_NVTX_NVTX_RANGES_H

#include "agent/ring/ring_writer.h"
#include "nvtx_abi.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

/* A message in one of its forms, or none for a range without a name. Attributes that are too short
 * count as none. */
struct tp_nvtx_range_message {
	const char *ascii;
	const wchar_t *wide;
	const struct nvtx_attributes *attributes;
};

/* Called once, before anything else. Both arguments are borrowed for good. `lock` is the ring's and
 * must never be held for long. Returns false if ranges cannot be recorded. */
bool tp_nvtx_ranges_init(struct tp_ring_writer *ring, pthread_mutex_t *lock);

/* Return handles of a domain and of a registered string, valid for good and also in forked
 * children. NULL: there is no room for the string. */
void *tp_nvtx_range_domain(const struct tp_nvtx_range_message *name);
void *tp_nvtx_range_register(const struct tp_nvtx_range_message *message);

/* `domain` is any handle or NULL. A payload is recorded in the domain "NCCL" only; NULL means the
 * payload of the attributes, if they have one. Both functions return NVTX_NO_LEVELS. */
int tp_nvtx_range_push(const void *domain, const struct tp_nvtx_range_message *message,
		       const struct nvtx_payload *payload);
int tp_nvtx_range_pop(const void *domain, const struct nvtx_payload *payload);

/* Starts a range that any thread may end. Returns 0 if it is not recorded; its end will not be
 * either. */
uint64_t tp_nvtx_range_start(const struct tp_nvtx_range_message *message);
void tp_nvtx_range_end(uint64_t range);

void tp_nvtx_range_mark(const void *domain, const struct tp_nvtx_range_message *message);

/* Moves waiting events into the ring, holding the lock for a few events at a time. `makes_room`:
 * the caller is the agent's thread, which may spend milliseconds on making room for events in the
 * ring. Events without room are counted as lost. */
void tp_nvtx_ranges_drain(uint64_t at_ns, bool makes_room);

/* True if it is time to drain. */
bool tp_nvtx_ranges_need_drain(void);

#endif
