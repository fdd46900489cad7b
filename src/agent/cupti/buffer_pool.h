/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The buffers that CUPTI fills. One stretch of memory, never given back: CUPTI may write into a
 * buffer that it has not returned for as long as the process lives. A buffer's pages are touched
 * when it is first used, except for those of the first, which are there before CUPTI asks: the
 * request comes in the thread that launches a kernel.
 *
 * Since 13.0 each launching thread fills a buffer of its own, so there are many small ones rather
 * than few large: 256 of 512 KiB, of which a program uses as many as it has launching threads and
 * undelivered buffers.
 *
 * Threads: take and give from any, at once, without locks.
 */
#ifndef TRAINPROF_SRC_AGENT_CUPTI_BUFFER_POOL_H
#define TRAINPROF_SRC_AGENT_CUPTI_BUFFER_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TP_BUFFER_POOL_BYTES = 512 << 10, /* of one buffer */
	TP_BUFFER_POOL_N = 256,
	TP_BUFFER_POOL_SPARE_BYTES = 64 << 10,
	TP_BUFFER_POOL_SPARES = 64, /* given back and kept for the next */
	TP_BUFFER_POOL_READY = 16,  /* whose pages are there from the beginning: 8 MiB */
};

struct tp_buffer_pool {
	uint8_t *memory;
	uint64_t taken[TP_BUFFER_POOL_N / 64];  /* bit i of word w: buffer 64 w + i */
	uint8_t *spares[TP_BUFFER_POOL_SPARES]; /* NULL: none */
};

/* An errno when there is no address space; the pool is then empty and may be initialised again. */
int tp_buffer_pool_init(struct tp_buffer_pool *pool);

/* NULL: all are taken. The lowest free one, so that few pages are used. */
uint8_t *tp_buffer_pool_get(struct tp_buffer_pool *pool);

/*
 * Where all are taken and CUPTI may not be refused: a small one of its own, that nobody reads.
 * CUPTI may have any number of undelivered buffers, and never has one address twice. A system call,
 * unless one was given back. NULL: no memory.
 */
uint8_t *tp_buffer_pool_get_extra(struct tp_buffer_pool *pool);
void tp_buffer_pool_release_extra(struct tp_buffer_pool *pool, uint8_t *spare);

/* Whether it is one of the pool's, not a spare one. */
bool tp_buffer_pool_owns(const struct tp_buffer_pool *pool, const uint8_t *buffer);

/* False: it is none of the pool's, or is not taken. */
bool tp_buffer_pool_release(struct tp_buffer_pool *pool, const uint8_t *buffer);

#endif
