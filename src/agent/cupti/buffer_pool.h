/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The buffers that CUPTI fills. They are one mapping that is never freed, because CUPTI may write
 * into a buffer that it has not returned for as long as the process lives. The pages of a buffer
 * are touched at its first use. Only the pages of the first buffers are touched in advance, because
 * CUPTI requests a buffer in the thread that launches a kernel.
 *
 * Since CUDA 13.0 each launching thread fills its own buffer, so there are many small buffers
 * instead of a few large ones: 256 of 512 KiB. A program uses as many as it has launching threads
 * and undelivered buffers.
 *
 * Threads: any thread may get and release buffers at any time, without locks.
 */
#ifndef TRAINPROF_SRC_AGENT_CUPTI_BUFFER_POOL_H
#define TRAINPROF_SRC_AGENT_CUPTI_BUFFER_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TP_BUFFER_POOL_BYTES = 512 << 10, /* size of one buffer */
	TP_BUFFER_POOL_N = 256,
	TP_BUFFER_POOL_SPARE_BYTES = 64 << 10,
	TP_BUFFER_POOL_SPARES = 64, /* released spare buffers that are kept for reuse */
	TP_BUFFER_POOL_READY = 16,  /* buffers whose pages are touched in advance: 8 MiB */
};

struct tp_buffer_pool {
	uint8_t *memory;
	uint64_t taken[TP_BUFFER_POOL_N / 64];  /* bit i of word w: buffer 64 w + i */
	uint8_t *spares[TP_BUFFER_POOL_SPARES]; /* NULL = empty */
};

/* Returns an errno if there is no address space; the pool is then empty and may be initialised
 * again. */
int tp_buffer_pool_init(struct tp_buffer_pool *pool);

/* Returns the lowest free buffer, so that few pages are used, or NULL if all are taken. */
uint8_t *tp_buffer_pool_get(struct tp_buffer_pool *pool);

/* Returns a small spare buffer, which nobody reads, for the case that all buffers are taken and
 * CUPTI must not be refused. CUPTI may hold any number of undelivered buffers and never gets one
 * address twice. Costs a system call unless a released one is at hand. NULL: no memory. */
uint8_t *tp_buffer_pool_get_extra(struct tp_buffer_pool *pool);
void tp_buffer_pool_release_extra(struct tp_buffer_pool *pool, uint8_t *spare);

/* True if the buffer belongs to the pool and is not a spare one. */
bool tp_buffer_pool_owns(const struct tp_buffer_pool *pool, const uint8_t *buffer);

/* Returns false if the buffer does not belong to the pool or is not taken. */
bool tp_buffer_pool_release(struct tp_buffer_pool *pool, const uint8_t *buffer);

#endif
