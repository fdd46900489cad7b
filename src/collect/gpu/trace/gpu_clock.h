/* SPDX-License-Identifier: Apache-2.0 */
/* Converts times of CUPTI's clock to CLOCK_MONOTONIC, using pairs of both that an agent
 * recorded. */
#ifndef TRAINPROF_SRC_COLLECT_GPU_TRACE_GPU_CLOCK_H
#define TRAINPROF_SRC_COLLECT_GPU_TRACE_GPU_CLOCK_H

#include "trainprof/wire/gpu_ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialised is empty and valid. Keeps the newest pairs, about a quarter of an hour. */
struct tp_gpu_clocks {
	struct tp_gpu_clock *pairs; /* in the order in which they were recorded; heap */
	size_t n;
	size_t capacity;
	/* Pairs with no later pair before them on CUPTI's clock: all of them unless that clock was
	 * set back. A binary search uses these; heap. */
	uint32_t *lows;
	size_t n_lows;
	size_t lows_capacity;
};

void tp_gpu_clocks_release(struct tp_gpu_clocks *clocks);
void tp_gpu_clocks_add(struct tp_gpu_clocks *clocks, const struct tp_gpu_clock *pair);

/* Between two pairs their difference is interpolated; outside, that of the nearest pair is used. If
 * CUPTI's clock was set in between (by more than 1 ms), the earlier pair is used up to the next
 * one. False: there is no pair, or the time would be before the machine's start. */
bool tp_gpu_clocks_host(const struct tp_gpu_clocks *clocks, uint64_t cupti_ns, uint64_t *host_ns);

#endif
