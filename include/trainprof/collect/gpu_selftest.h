/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries, once, all that would be asked about GPUs, whoever uses them: what stands around them,
 * CUPTI with the agent in a child, of every GPU what NVML tells, and whether its counters could be
 * read; none is, and no clock is locked. For doctor: takes as long as the driver does, but not
 * longer than asked for, three times at most; to be called while there is one thread.
 */
#ifndef TRAINPROF_COLLECT_GPU_SELFTEST_H
#define TRAINPROF_COLLECT_GPU_SELFTEST_H

#include "trainprof/collect/host_info.h"
#include "trainprof/model/source.h"

#include <stddef.h>

/* One line of what was found. */
struct tp_gpu_selftest_row {
	char name[16];  /* "gpu 0", "driver", "injection" */
	char text[200]; /* "NVIDIA H200: use, memory …; not told: PCIe" */
	struct tp_availability availability;
};

/* `environment` is "NAME=VALUE", ended by NULL. Each trial may take `seconds`; of a recorded
 * machine nothing is tried. Returns how many of `most` rows were filled; at least one, if most > 0.
 */
size_t tp_gpu_selftest(struct tp_gpu_selftest_row *rows, size_t most, const struct tp_host *host,
		       char *const *environment, double seconds);

#endif
