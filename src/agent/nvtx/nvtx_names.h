/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of ranges as ids of the ring. Any thread may ask, also in a signal handler. A known name is
 * found without a lock. A new one is added under the ring's lock, which is never held for long; a
 * caller that does not get the lock soon gets no name instead of waiting.
 *
 * Half of the ring's table is reserved for kernels and calls; once the other half is full, new
 * ranges have no name.
 */
#ifndef TRAINPROF_SRC_AGENT_NVTX_NVTX_NAMES_H
#define TRAINPROF_SRC_AGENT_NVTX_NVTX_NAMES_H

#include "agent/ring/ring_writer.h"
#include "nvtx_message.h"

#include <pthread.h>

enum {
	TP_NVTX_NAMES_SLOTS = 1 << 14,
	TP_NVTX_NAMES_MAX = TP_NVTX_NAMES_SLOTS / 4 * 3,
	TP_NVTX_NAMES_BYTES = TP_GPU_RING_NAME_BYTES / 2,
};

struct tp_nvtx_names {
	struct tp_ring_writer *ring;
	pthread_mutex_t *lock; /* the ring's lock */
	uint32_t n;            /* protected by the lock */
	size_t n_bytes;
	bool is_full;
	uint64_t slots[TP_NVTX_NAMES_SLOTS]; /* hash << 32 | id; 0 = free */
};

/* Zeroed memory with `ring` and `lock` set is an empty table. */

/* Returns the id; 0, counted as unnamed, if there is no room. */
uint32_t tp_nvtx_names_id(struct tp_nvtx_names *names, const struct tp_nvtx_message *text);

#endif
