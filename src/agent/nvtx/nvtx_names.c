/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table over the ring's names that is read without a lock. */
#include "nvtx_names.h"

#include <sched.h>
#include <string.h>

enum { MASK = TP_NVTX_NAMES_SLOTS - 1, LOCK_TRIES = 1000 };

static bool is_text(const struct tp_nvtx_names *names, uint64_t slot,
		    const struct tp_nvtx_message *text)
{
	return (uint32_t)(slot >> 32) == text->hash &&
	       strcmp(tp_ring_writer_name(names->ring, (uint32_t)slot), text->text) == 0;
}

/* Returns the slot that has the text, or the free slot where it belongs. */
static uint64_t *find(struct tp_nvtx_names *names, const struct tp_nvtx_message *text,
		      uint64_t *content)
{
	for (uint32_t i = text->hash;; i++) {
		uint64_t *slot = &names->slots[i & MASK];
		*content = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
		if (!*content || is_text(names, *content, text))
			return slot;
	}
}

/* A thread that a signal interrupted while it held the lock cannot release it; the caller then gets
 * no name. */
static bool try_lock(pthread_mutex_t *lock)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (pthread_mutex_trylock(lock) == 0)
			return true;
		sched_yield();
	}
	return false;
}

static uint32_t add(struct tp_nvtx_names *names, const struct tp_nvtx_message *text)
{
	uint64_t content;
	uint64_t *slot = find(names, text, &content);
	uint32_t id = (uint32_t)content;
	uint32_t before = names->ring->header->n_name_bytes;
	if (id)
		return id; /* another thread was faster */
	if (names->n < TP_NVTX_NAMES_MAX && names->n_bytes + text->length <= TP_NVTX_NAMES_BYTES)
		id = tp_ring_writer_add_name(names->ring, text->text, text->length);
	if (!id) {
		__atomic_store_n(&names->is_full, true, __ATOMIC_RELAXED);
		return 0;
	}
	names->n++;
	names->n_bytes += names->ring->header->n_name_bytes - before;
	__atomic_store_n(slot, (uint64_t)text->hash << 32 | id, __ATOMIC_RELEASE);
	return id;
}

uint32_t tp_nvtx_names_id(struct tp_nvtx_names *names, const struct tp_nvtx_message *text)
{
	uint64_t content;
	if (!text->length)
		return 0;
	find(names, text, &content);
	uint32_t id = (uint32_t)content;
	if (!id && !__atomic_load_n(&names->is_full, __ATOMIC_RELAXED) && try_lock(names->lock)) {
		id = add(names, text);
		pthread_mutex_unlock(names->lock);
	}
	if (!id)
		__atomic_fetch_add(&names->ring->header->n_unnamed, 1, __ATOMIC_RELAXED);
	return id;
}
