/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which samples of a "running" thread count as on a CPU and which as waiting for one. /proc
 * does not distinguish them, but the kernel accounts both as totals. The remaining samples are
 * waits that ended during the inspection, as waits for a fast disk do. */
#ifndef TRAINPROF_SRC_COLLECT_OFFCPU_ONCPU_ESTIMATE_H
#define TRAINPROF_SRC_COLLECT_OFFCPU_ONCPU_ESTIMATE_H

#include "collect/process/procfs.h"

#include "trainprof/model/task.h"

#include <stdbool.h>
#include <stdint.h>

/* All zero = never sampled. */
struct tp_oncpu_estimate {
	bool was_taken;
	struct tp_procfs_schedstat last;
	double run_ns;   /* time it ran that no sample represents yet */
	double delay_ns; /* the same for waiting for a CPU; negative: owed, a wait is accounted at
			    its end */
};

/* Returns the state for a sample that represents `elapsed_ns` and found the thread running, with
 * this account of its time so far. It is on a CPU if it ran at least half of that time more than
 * earlier samples represent, so that samples on a CPU add up to the time it ran; otherwise it waits
 * for one, by the same rule plus one unfinished wait; otherwise TP_STATE_BLOCKED. */
enum tp_state tp_oncpu_estimate_state(struct tp_oncpu_estimate *share,
				      const struct tp_procfs_schedstat *now, double elapsed_ns);

#endif
