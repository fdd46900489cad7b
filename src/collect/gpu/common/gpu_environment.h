/* SPDX-License-Identifier: Apache-2.0 */
/* Checks everything around a machine's GPUs that decides what can be measured: the driver,
 * permission to read counters, tools that own resources that we need, programs that share a GPU,
 * and variables that make CUPTI fail. For doctor: reads files and the environment, and tries
 * nothing. */
#ifndef TRAINPROF_SRC_COLLECT_GPU_COMMON_GPU_ENVIRONMENT_H
#define TRAINPROF_SRC_COLLECT_GPU_COMMON_GPU_ENVIRONMENT_H

#include "trainprof/collect/gpu_selftest.h"
#include "trainprof/collect/host_info.h"

#include <stdbool.h>
#include <stddef.h>

/* Fills one row per item worth reporting; a problem has a presence other than PRESENT and a remedy.
 * `environment` is "NAME=VALUE", terminated by NULL. Returns how many of `most` were filled. */
size_t tp_gpu_environment_check(struct tp_gpu_selftest_row *rows, size_t most,
				const struct tp_host *host, char *const *environment);

/* True if the driver reserves hardware counters for administrators and this process is not one. */
bool tp_gpu_counters_are_restricted(const struct tp_host *host);

#endif
