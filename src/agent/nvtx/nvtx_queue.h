/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where events of NVTX wait, in memory of the program, until the agent's thread takes them into the
 * ring. Any thread puts, also in a handler of a signal: without locks, without waiting, about ten
 * nanoseconds. What finds no room is dropped and counted.
 *
 * Memory: 2.6 MiB, of which those pages count that were used. A forked child has a copy and must
 * not use it.
 *
 *	head            tail              limit
 *	 |--- waiting ---|---- room -------|      at most TP_NVTX_QUEUE_CELLS between head and tail
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
	TP_NVTX_QUEUE_RESERVED = 1 << 12, /* room that only ends of ranges may use */
	TP_NVTX_QUEUE_PER_S = 20000,      /* events that may come for long */
	TP_NVTX_QUEUE_BURST = 1 << 18,    /* and at once */
};

/* What goes first where there are too many. */
enum tp_nvtx_queue_use {
	TP_NVTX_QUEUE_INNER, /* a range in ranges: leaves half of what may come to the others */
	TP_NVTX_QUEUE_OUTER, /* a step, a phase */
	TP_NVTX_QUEUE_END,   /* of one that was put; and what has to be told */
};

struct tp_nvtx_queue_cell {
	uint32_t turn;   /* the round in which it was filled last, from 1 */
	uint16_t n;      /* that belong together, in the first of them */
	uint16_t n_lost; /* dropped before it and not told yet */
	struct tp_gpu_event event;
};

/* Zeroed memory is an empty queue that takes nothing until it is allowed to. */
struct tp_nvtx_queue {
	uint64_t tail __attribute__((aligned(64)));
	uint64_t head __attribute__((aligned(64)));
	uint64_t limit;     /* tail may not pass it, but by ends */
	uint64_t at_ns;     /* when the limit was set */
	uint64_t n_dropped; /* and not told yet */
	struct tp_nvtx_queue_cell cells[TP_NVTX_QUEUE_CELLS] __attribute__((aligned(64)));
};

/* Raise the limit by what may come in the time since the last call. The taker's. */
void tp_nvtx_queue_allow(struct tp_nvtx_queue *queue, uint64_t now_ns);

/* May so many come now? Of a range that may not its end is not to be put either. */
bool tp_nvtx_queue_can_add(const struct tp_nvtx_queue *queue, size_t n, enum tp_nvtx_queue_use use);

/*
 * Put events that belong together, the first of which is no PAYLOAD. False: they are dropped and
 * counted. `is_much` becomes true each time that a quarter of the queue has come: somebody should
 * take.
 */
bool tp_nvtx_queue_push(struct tp_nvtx_queue *queue, const struct tp_gpu_event *events, size_t n,
			enum tp_nvtx_queue_use use, bool *is_much);

/*
 * Take the next that belong together; `out` has room for TP_NVTX_QUEUE_GROUP_MAX. 0: there are
 * none, or the next one is being written. *n_lost: how many were dropped before them. One thread at
 * a time.
 */
size_t tp_nvtx_queue_pop(struct tp_nvtx_queue *queue, struct tp_gpu_event *out, uint64_t *n_lost);

/* How many events were dropped since this was asked last, at most `max`; the rest is for the next
 * call. Each is counted once, here or by the cell of a later push. */
uint64_t tp_nvtx_queue_pop_lost(struct tp_nvtx_queue *queue, uint64_t max);

/* Whether events wait, or were dropped and not counted yet. */
bool tp_nvtx_queue_has_news(const struct tp_nvtx_queue *queue);
size_t tp_nvtx_queue_length(const struct tp_nvtx_queue *queue);

#endif
