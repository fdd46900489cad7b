/* SPDX-License-Identifier: Apache-2.0 */
/* Finds our control groups and their limits, for host_info.c. */
#ifndef TRAINPROF_SRC_COLLECT_MACHINE_CGROUP_H
#define TRAINPROF_SRC_COLLECT_MACHINE_CGROUP_H

#include "trainprof/collect/host_info.h"

/*
 * Fills the cgroup fields of `host` and the limits in its info from /proc/self/{cgroup,mountinfo}.
 *
 * Limits of ancestors count: the smallest applies. cgroup_cpu is the directory that has the
 * smallest CPU quota, because the kernel counts throttling there and not in the groups below it
 * (6.18, version 1: a loop at half a CPU, 31 of 33 periods throttled in the owner, 0 of 0 in its
 * child).
 */
void tp_cgroup_find(struct tp_host *host);

#endif
