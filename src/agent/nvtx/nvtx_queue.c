/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded queue with many writers and one reader. */
#include "nvtx_queue.h"

enum { MASK = TP_NVTX_QUEUE_CELLS - 1, MAX_LOST = UINT16_MAX };
_Static_assert((TP_NVTX_QUEUE_CELLS & MASK) == 0, "a power of two");

#define NS_PER_S UINT64_C(1000000000)

static uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* Returns the sequence number of the cell at a position counted since the start. */
static uint32_t sequence_of(uint64_t at)
{
	return (uint32_t)(at / TP_NVTX_QUEUE_CELLS) + 1;
}

void tp_nvtx_queue_allow(struct tp_nvtx_queue *queue, uint64_t now_ns)
{
	uint64_t most = load(&queue->tail) + TP_NVTX_QUEUE_BURST;
	uint64_t past_ns = now_ns - queue->at_ns;
	uint64_t limit = load(&queue->limit);
	/* Avoids overflow: after a minute the allowance has reached its maximum anyway. */
	if (!queue->at_ns || past_ns > 60 * NS_PER_S)
		limit = most;
	else
		limit += past_ns * TP_NVTX_QUEUE_PER_S / NS_PER_S;
	__atomic_store_n(&queue->limit, limit < most ? limit : most, __ATOMIC_RELAXED);
	queue->at_ns = now_ns;
}

static uint64_t reserved_for(enum tp_nvtx_queue_use use)
{
	return use == TP_NVTX_QUEUE_INNER ? TP_NVTX_QUEUE_BURST / 2 : 0;
}

bool tp_nvtx_queue_can_add(const struct tp_nvtx_queue *queue, size_t n, enum tp_nvtx_queue_use use)
{
	return use == TP_NVTX_QUEUE_END ||
	       load(&queue->tail) + n + reserved_for(use) <= load(&queue->limit);
}

/* Differences are signed, because a tail that was read long ago may be behind the head. */
static bool has_room(const struct tp_nvtx_queue *queue, uint64_t tail, size_t n,
		     enum tp_nvtx_queue_use use)
{
	int64_t kept = use == TP_NVTX_QUEUE_END ? 0 : TP_NVTX_QUEUE_RESERVED;
	uint64_t head = __atomic_load_n(&queue->head, __ATOMIC_ACQUIRE);
	return (int64_t)(tail + n - head) <= TP_NVTX_QUEUE_CELLS - kept;
}

uint64_t tp_nvtx_queue_pop_lost(struct tp_nvtx_queue *queue, uint64_t max)
{
	uint64_t n = load(&queue->n_dropped);
	uint64_t taken;
	do {
		if (!n)
			return 0;
		taken = n < max ? n : max;
	} while (!__atomic_compare_exchange_n(&queue->n_dropped, &n, n - taken, false,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return taken;
}

bool tp_nvtx_queue_push(struct tp_nvtx_queue *queue, const struct tp_gpu_event *events, size_t n,
			enum tp_nvtx_queue_use use, bool *is_much)
{
	enum { QUARTER = TP_NVTX_QUEUE_CELLS / 4 };
	uint64_t at = load(&queue->tail);
	do {
		if (!has_room(queue, at, n, use)) {
			__atomic_fetch_add(&queue->n_dropped, n, __ATOMIC_RELAXED);
			return false;
		}
	} while (!__atomic_compare_exchange_n(&queue->tail, &at, at + n, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	uint16_t n_lost = (uint16_t)tp_nvtx_queue_pop_lost(queue, MAX_LOST);
	/* The first cell is published last: once it is visible, the others are too. */
	for (size_t i = n; i-- > 0;) {
		struct tp_nvtx_queue_cell *cell = &queue->cells[(at + i) & MASK];
		cell->n = (uint16_t)n;
		cell->n_lost = i ? 0 : n_lost;
		cell->event = events[i];
		__atomic_store_n(&cell->turn, sequence_of(at + i), __ATOMIC_RELEASE);
	}
	*is_much = at / QUARTER != (at + n) / QUARTER;
	return true;
}

size_t tp_nvtx_queue_pop(struct tp_nvtx_queue *queue, struct tp_gpu_event *out, uint64_t *n_lost)
{
	uint64_t at = queue->head;
	const struct tp_nvtx_queue_cell *first = &queue->cells[at & MASK];
	if (__atomic_load_n(&first->turn, __ATOMIC_ACQUIRE) != sequence_of(at))
		return 0;
	size_t n = first->n;
	*n_lost = first->n_lost;
	for (size_t i = 0; i < n; i++)
		out[i] = queue->cells[(at + i) & MASK].event;
	__atomic_store_n(&queue->head, at + n, __ATOMIC_RELEASE);
	return n;
}

size_t tp_nvtx_queue_length(const struct tp_nvtx_queue *queue)
{
	return (size_t)(load(&queue->tail) - load(&queue->head));
}

bool tp_nvtx_queue_has_news(const struct tp_nvtx_queue *queue)
{
	return tp_nvtx_queue_length(queue) || load(&queue->n_dropped);
}
