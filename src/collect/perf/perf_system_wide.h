/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of CPUs in the place of events of threads, for a target that switches all the time.
 *
 * A thread that has events hands them to the next one at each switch, also while they record
 * nothing. Events of CPUs are on nobody's way: between looks a switch costs what it costs without
 * us. But they tell of everybody, so not every user may have them, they cost others something, and
 * what they tell of others has to be read and dropped: they are for those who have most of what is
 * used of the machine's CPUs.
 */
#ifndef TRAINPROF_SRC_COLLECT_PERF_PERF_SYSTEM_WIDE_H
#define TRAINPROF_SRC_COLLECT_PERF_PERF_SYSTEM_WIDE_H

#include "collect/process/task_tree.h"
#include "perf_event.h"

#include <stdbool.h>
#include <stdint.h>

struct tp_perf_system_wide {
	bool is_refused;
	uint64_t busy_ns; /* of all CPUs, and of the target, when last asked */
	uint64_t target_ns;
};

/* CPU time of the target's processes that are alive, by the kernel's account. */
uint64_t tp_perf_system_wide_used_ns(const struct tp_task_tree *tree);

/* Whether the target used most of the CPU time that was used since the last call (by the first:
 * since the machine started). target_ns: tp_perf_system_wide_used_ns(). */
bool tp_perf_system_wide_fits(struct tp_perf_system_wide *wide, const struct tp_host *host,
			      uint64_t target_ns);

/*
 * Opens events of CPUs like `threads`, without samples of threads that leave, and begins to sample.
 * False when the kernel refuses or grants less: then nothing is open, and it need not be tried
 * again (is_refused).
 */
bool tp_perf_system_wide_open(struct tp_perf_system_wide *wide, struct tp_perf_events *out,
			      const struct tp_host *host, const struct tp_perf_events *threads,
			      uint64_t *seed);

#endif
