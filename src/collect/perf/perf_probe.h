/* SPDX-License-Identifier: Apache-2.0 */
/* Tries whether the kernel permits perf events; if not, finds out why and what would help. */
#ifndef TRAINPROF_SRC_COLLECT_PERF_PERF_PROBE_H
#define TRAINPROF_SRC_COLLECT_PERF_PERF_PROBE_H

#include "trainprof/collect/host_info.h"
#include "trainprof/model/source.h"

/* PRESENT: kernel code as well. DEGRADED: user code only. */
void tp_perf_probe(const struct tp_host *host, struct tp_availability *out);

/* Explains why perf_event_open failed with errno value `error`, and what would help. The seccomp
 * filter of a container may return ENOSYS, like a kernel without perf events; but such a kernel has
 * no settings of perf events either. */
void tp_perf_explain_error(const struct tp_host *host, int error, struct tp_availability *out);

#endif
