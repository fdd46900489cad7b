/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the kernel lets us have perf events, by trying; why not, and what would help. */
#ifndef TRAINPROF_SRC_COLLECT_PERF_PERF_PROBE_H
#define TRAINPROF_SRC_COLLECT_PERF_PERF_PROBE_H

#include "trainprof/collect/host_info.h"
#include "trainprof/model/source.h"

/* PRESENT: kernel code as well. DEGRADED: user code only. */
void tp_perf_probe(const struct tp_host *host, struct tp_availability *out);

/* Why perf_event_open failed with errno value `error`, and what would help. A seccomp filter of a
 * container may answer ENOSYS, as a kernel without perf events does: that one has no settings of
 * perf events either. */
void tp_perf_explain_error(const struct tp_host *host, int error, struct tp_availability *out);

#endif
