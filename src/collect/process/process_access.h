/* SPDX-License-Identifier: Apache-2.0 */
/* Tests what can be read of another process, by trying it on a child or on the process itself. */
#ifndef TRAINPROF_SRC_COLLECT_PROCESS_PROCESS_ACCESS_H
#define TRAINPROF_SRC_COLLECT_PROCESS_PROCESS_ACCESS_H

#include "trainprof/collect/host_info.h"
#include "trainprof/model/source.h"

#include <sys/types.h>

/* PRESENT: system calls and memory of a child can be read. DEGRADED: kernel functions only. On a
 * recorded machine the settings decide. */
void tp_process_access_probe(const struct tp_host *host, struct tp_availability *out);

/* The same, tried on a process that already runs: Yama permits access to our own children, but not
 * to other processes. Also PRESENT if it has just ended. */
void tp_process_access_probe_pid(const struct tp_host *host, pid_t pid,
				 struct tp_availability *out);

#endif
