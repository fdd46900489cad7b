/* SPDX-License-Identifier: Apache-2.0 */
/* The GPUs that the target uses and the tracks that represent them, so that data of several sources
 * about one GPU share a track. The nvml collector fills it; others only read. */
#ifndef TRAINPROF_SRC_COLLECT_GPU_COMMON_GPU_IN_USE_H
#define TRAINPROF_SRC_COLLECT_GPU_COMMON_GPU_IN_USE_H

#include <stddef.h>
#include <stdint.h>

enum { TP_GPU_IN_USE_MAX = 64 };

struct tp_gpu_in_use {
	size_t n; /* only grows */
	struct tp_gpu_track {
		uint32_t device; /* NVML's index: in order of buses */
		uint32_t track;
	} items[TP_GPU_IN_USE_MAX];
};

/* NULL is allowed and does nothing. Entries beyond the maximum are dropped. */
static inline void tp_gpu_in_use_add(struct tp_gpu_in_use *tracks, uint32_t device, uint32_t track)
{
	if (tracks && tracks->n < TP_GPU_IN_USE_MAX)
		tracks->items[tracks->n++] =
			(struct tp_gpu_track){.device = device, .track = track};
}

#endif
