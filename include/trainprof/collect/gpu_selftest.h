/* SPDX-License-Identifier: Apache-2.0 */
/* Tries once everything that measures GPUs: their environment, CUPTI with the agent in a child
 * process, NVML's data of every GPU, and access to hardware counters. It reads no counter and locks
 * no clock. For doctor: takes as long as the driver does, but at most the given time, three times;
 * call it while there is only one thread. */
#ifndef TRAINPROF_COLLECT_GPU_SELFTEST_H
#define TRAINPROF_COLLECT_GPU_SELFTEST_H

#include "trainprof/collect/host_info.h"
#include "trainprof/model/source.h"

#include <stddef.h>

/* One line of the result. */
struct tp_gpu_selftest_row {
	char name[16];  /* "gpu 0", "driver", "injection" */
	char text[200]; /* "NVIDIA H200: use, memory …; not reported: PCIe" */
	struct tp_availability availability;
};

/* `environment` is "NAME=VALUE", terminated by NULL. Each trial may take `seconds`; nothing is
 * tried on a recorded machine. Returns how many of `most` rows were filled; at least one if most >
 * 0. */
size_t tp_gpu_selftest(struct tp_gpu_selftest_row *rows, size_t most, const struct tp_host *host,
		       char *const *environment, double seconds);

#endif
