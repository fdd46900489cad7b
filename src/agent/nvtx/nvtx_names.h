/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of ranges as ids of the ring. Any thread asks, also in a handler of a signal; one that is
 * known is found without a lock, a new one is added holding that of the ring, which nobody holds
 * for long. Who finds that lock taken for long gets no name rather than wait.
 *
 * Of the ring's table half is left to kernels and calls: behind that there are no new names.
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
	pthread_mutex_t *lock; /* of the ring */
	uint32_t n;            /* the lock's, as the next */
	size_t n_bytes;
	bool is_full;
	uint64_t slots[TP_NVTX_NAMES_SLOTS]; /* hash << 32 | id; 0 = free */
};

/* Zeroed memory with `ring` and `lock` set is an empty table. */

/* The id; 0, counted as unnamed, when there is no room. */
uint32_t tp_nvtx_names_id(struct tp_nvtx_names *names, const struct tp_nvtx_message *text);

#endif
