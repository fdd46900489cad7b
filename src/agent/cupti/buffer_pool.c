/* SPDX-License-Identifier: Apache-2.0 */
/* A bitmap over one mapping. */
#include "buffer_pool.h"

#include <errno.h>
#include <sys/mman.h>

enum { WORDS = TP_BUFFER_POOL_N / 64, PAGE = 4096 };

int tp_buffer_pool_init(struct tp_buffer_pool *pool)
{
	size_t size = (size_t)TP_BUFFER_POOL_N * TP_BUFFER_POOL_BYTES;
	*pool = (struct tp_buffer_pool){0};
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return errno;
	pool->memory = memory;
	for (size_t at = 0; at < (size_t)TP_BUFFER_POOL_READY * TP_BUFFER_POOL_BYTES; at += PAGE)
		((volatile uint8_t *)pool->memory)[at] = 0;
	return 0;
}

uint8_t *tp_buffer_pool_get(struct tp_buffer_pool *pool)
{
	if (!pool->memory)
		return NULL;
	for (size_t w = 0; w < WORDS; w++) {
		uint64_t old = __atomic_load_n(&pool->taken[w], __ATOMIC_RELAXED);
		while (~old) {
			unsigned i = (unsigned)__builtin_ctzll(~old);
			if (__atomic_compare_exchange_n(&pool->taken[w], &old, old | 1ull << i, 0,
							__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
				return pool->memory + (w * 64 + i) * TP_BUFFER_POOL_BYTES;
		}
	}
	return NULL;
}

uint8_t *tp_buffer_pool_get_extra(struct tp_buffer_pool *pool)
{
	for (size_t i = 0; i < TP_BUFFER_POOL_SPARES; i++) {
		uint8_t *spare = __atomic_exchange_n(&pool->spares[i], NULL, __ATOMIC_ACQ_REL);
		if (spare)
			return spare;
	}
	void *memory = mmap(NULL, TP_BUFFER_POOL_SPARE_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

/* A buffer that does not fit into the list of spares stays mapped, because CUPTI may still write
 * into it. */
/* NOLINTNEXTLINE(readability-non-const-parameter): the pool lends it for writing */
void tp_buffer_pool_release_extra(struct tp_buffer_pool *pool, uint8_t *spare)
{
	for (size_t i = 0; i < TP_BUFFER_POOL_SPARES; i++) {
		uint8_t *none = NULL;
		if (__atomic_compare_exchange_n(&pool->spares[i], &none, spare, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return;
	}
}

bool tp_buffer_pool_owns(const struct tp_buffer_pool *pool, const uint8_t *buffer)
{
	uintptr_t offset = (uintptr_t)buffer - (uintptr_t)pool->memory;
	return pool->memory && offset < (uintptr_t)TP_BUFFER_POOL_N * TP_BUFFER_POOL_BYTES;
}

bool tp_buffer_pool_release(struct tp_buffer_pool *pool, const uint8_t *buffer)
{
	uintptr_t offset = (uintptr_t)buffer - (uintptr_t)pool->memory;
	if (!tp_buffer_pool_owns(pool, buffer) || offset % TP_BUFFER_POOL_BYTES)
		return false;
	size_t i = offset / TP_BUFFER_POOL_BYTES;
	uint64_t bit = 1ull << (i % 64);
	return __atomic_fetch_and(&pool->taken[i / 64], ~bit, __ATOMIC_RELEASE) & bit;
}
