/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands around the GPUs of a machine and decides what can be measured of them: the driver,
 * who may read counters, tools that own what we would need, programs that share a GPU, variables
 * that make CUPTI fail. For doctor: looks at files and the environment, and tries nothing.
 */
#ifndef TRAINPROF_SRC_COLLECT_GPU_COMMON_GPU_ENVIRONMENT_H
#define TRAINPROF_SRC_COLLECT_GPU_COMMON_GPU_ENVIRONMENT_H

#include "trainprof/collect/gpu_selftest.h"
#include "trainprof/collect/host_info.h"

#include <stdbool.h>
#include <stddef.h>

/* A row for each thing worth a line; what is amiss has a presence other than PRESENT, and what to
 * type. `environment` is "NAME=VALUE", ended by NULL. Returns how many of `most` were filled. */
size_t tp_gpu_environment_check(struct tp_gpu_selftest_row *rows, size_t most,
				const struct tp_host *host, char *const *environment);

/* The driver keeps hardware counters for administrators, and this process is none. */
bool tp_gpu_counters_are_restricted(const struct tp_host *host);

#endif
