/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds NVTX events in the program's memory until the agent's thread moves them into the ring. Any
 * thread may push, also in a signal handler, without locks or waiting, in about ten nanoseconds. An
 * event that does not fit is dropped and counted.
 *
 * Memory: 2.6 MiB, of which only used pages count. A forked child has a copy and must not use it.
 *
 * 	head            tail              limit
 * 	 |--- waiting ---|---- room -------|      at most TP_NVTX_QUEUE_CELLS between head and tail
 */
#ifndef TRAINPROF_SRC_AGENT_NVTX_NVTX_QUEUE_H
#define TRAINPROF_SRC_AGENT_NVTX_NVTX_QUEUE_H

#include "trainprof/wire/gpu_ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TP_NVTX_QUEUE_CELLS = 1 << 16,
	TP_NVTX_QUEUE_GROUP_MAX = 1 + TP_GPU_PAYLOAD_WORDS,
	TP_NVTX_QUEUE_RESERVED = 1 << 12, /* room reserved for the ends of ranges */
	TP_NVTX_QUEUE_PER_S = 20000,      /* sustained rate of events */
	TP_NVTX_QUEUE_BURST = 1 << 18,    /* size of a burst */
};

/* Priority when there are too many events. */
enum tp_nvtx_queue_use {
	TP_NVTX_QUEUE_INNER, /* a nested range: leaves half of the allowance to the others */
	TP_NVTX_QUEUE_OUTER, /* a step or a phase */
	TP_NVTX_QUEUE_END, /* the end of a range that was pushed, or an event that must not be lost
			    */
};

struct tp_nvtx_queue_cell {
	uint32_t turn;   /* the round in which the cell was last filled, from 1 */
	uint16_t n;      /* number of events in the group, in its first cell */
	uint16_t n_lost; /* events dropped before this one and not reported yet */
	struct tp_gpu_event event;
};

/* Zeroed memory is an empty queue that accepts nothing until tp_nvtx_queue_allow() is called. */
struct tp_nvtx_queue {
	uint64_t tail __attribute__((aligned(64)));
	uint64_t head __attribute__((aligned(64)));
	uint64_t limit;     /* only ends of ranges may move tail beyond it */
	uint64_t at_ns;     /* when the limit was set */
	uint64_t n_dropped; /* dropped and not reported yet */
	struct tp_nvtx_queue_cell cells[TP_NVTX_QUEUE_CELLS] __attribute__((aligned(64)));
};

/* Raises the limit by the allowance for the time since the last call. Called by the reader. */
void tp_nvtx_queue_allow(struct tp_nvtx_queue *queue, uint64_t now_ns);

/* True if `n` events fit now. If a range does not fit, its end must not be pushed either. */
bool tp_nvtx_queue_can_add(const struct tp_nvtx_queue *queue, size_t n, enum tp_nvtx_queue_use use);

/* Pushes a group of events, the first of which is no PAYLOAD. Returns false if they were dropped
 * and counted. `is_much` becomes true each time that a quarter of the queue was filled, and the
 * reader should be woken. */
bool tp_nvtx_queue_push(struct tp_nvtx_queue *queue, const struct tp_gpu_event *events, size_t n,
			enum tp_nvtx_queue_use use, bool *is_much);

/* Removes the next group; `out` has room for TP_NVTX_QUEUE_GROUP_MAX events. Returns 0 if there is
 * none or the next one is being written. *n_lost: events dropped before the group. One thread at a
 * time. */
size_t tp_nvtx_queue_pop(struct tp_nvtx_queue *queue, struct tp_gpu_event *out, uint64_t *n_lost);

/* Returns the events dropped since the last call, at most `max`; the rest is left for the next
 * call. Each is counted once, here or by the cell of a later push. */
uint64_t tp_nvtx_queue_pop_lost(struct tp_nvtx_queue *queue, uint64_t max);

/* True if events wait, or were dropped and not counted yet. */
bool tp_nvtx_queue_has_news(const struct tp_nvtx_queue *queue);
size_t tp_nvtx_queue_length(const struct tp_nvtx_queue *queue);

#endif
