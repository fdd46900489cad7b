/* SPDX-License-Identifier: Apache-2.0 */
/* What of another process can be read here, by trying: on a child of our own, or on itself. */
#ifndef TRAINPROF_SRC_COLLECT_PROCESS_PROCESS_ACCESS_H
#define TRAINPROF_SRC_COLLECT_PROCESS_PROCESS_ACCESS_H

#include "trainprof/collect/host_info.h"
#include "trainprof/model/source.h"

#include <sys/types.h>

/* PRESENT: system calls and memory of a child can be read. DEGRADED: kernel functions only. On a
 * recorded machine the settings decide. */
void tp_process_access_probe(const struct tp_host *host, struct tp_availability *out);

/* The same by trying on a process that runs already: Yama lets us look into our own children, and
 * not into others. PRESENT also when it has just ended. */
void tp_process_access_probe_pid(const struct tp_host *host, pid_t pid,
				 struct tp_availability *out);

#endif
