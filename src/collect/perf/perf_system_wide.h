/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Per-CPU events instead of per-thread events, for a target that switches all the time.
 *
 * The kernel swaps the events of threads at each switch, even while they record nothing. Per-CPU
 * events are not involved in a switch: while switch records are off, a switch costs as little as
 * without us. But they cover all processes, so not every user may open them, they cost other
 * programs some time, and the records of other programs must be read and dropped. Therefore they
 * are used only if the target uses most of the CPU time that the machine uses.
 */
#ifndef TRAINPROF_SRC_COLLECT_PERF_PERF_SYSTEM_WIDE_H
#define TRAINPROF_SRC_COLLECT_PERF_PERF_SYSTEM_WIDE_H

#include "collect/process/task_tree.h"
#include "perf_event.h"

#include <stdbool.h>
#include <stdint.h>

struct tp_perf_system_wide {
	bool is_refused;
	uint64_t busy_ns; /* of all CPUs, and of the target, at the last call */
	uint64_t target_ns;
};

/* Returns the CPU time of the target's live processes, as accounted by the kernel. */
uint64_t tp_perf_system_wide_used_ns(const struct tp_task_tree *tree);

/* True if the target used most of the CPU time that was used since the last call (first call: since
 * the machine started). target_ns: tp_perf_system_wide_used_ns(). */
bool tp_perf_system_wide_fits(struct tp_perf_system_wide *wide, const struct tp_host *host,
			      uint64_t target_ns);

/* Opens per-CPU events like `threads`, without samples of threads that leave a CPU, and begins to
 * sample. Returns false if the kernel refuses or grants less: then nothing is open, and no other
 * attempt is needed (is_refused). */
bool tp_perf_system_wide_open(struct tp_perf_system_wide *wide, struct tp_perf_events *out,
			      const struct tp_host *host, const struct tp_perf_events *threads,
			      uint64_t *seed);

#endif
