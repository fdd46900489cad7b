/* SPDX-License-Identifier: Apache-2.0 */
/* Turns times of CUPTI's clock into CLOCK_MONOTONIC, by pairs of both that an agent wrote. */
#ifndef TRAINPROF_SRC_COLLECT_GPU_TRACE_GPU_CLOCK_H
#define TRAINPROF_SRC_COLLECT_GPU_TRACE_GPU_CLOCK_H

#include "trainprof/wire/gpu_ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialised is empty and valid. The newest pairs are kept: a quarter of an hour of them. */
struct tp_gpu_clocks {
	struct tp_gpu_clock *pairs; /* in the order in which they were written; heap */
	size_t n;
	size_t capacity;
	/* The pairs that no later one lies before, by CUPTI's clock: all of them unless it was set
	 * back. A time is looked for in these, by halves; heap. */
	uint32_t *lows;
	size_t n_lows;
	size_t lows_capacity;
};

void tp_gpu_clocks_release(struct tp_gpu_clocks *clocks);
void tp_gpu_clocks_add(struct tp_gpu_clocks *clocks, const struct tp_gpu_clock *pair);

/*
 * Between two pairs their difference is interpolated, outside the nearest pair's holds. Where
 * CUPTI's clock was set in between (its date; more than 1 ms), the pair before holds as far as the
 * next one. False: there is no pair, or the time would lie before the machine's start.
 */
bool tp_gpu_clocks_host(const struct tp_gpu_clocks *clocks, uint64_t cupti_ns, uint64_t *host_ns);

#endif
