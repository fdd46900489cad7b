/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of the looks that find a thread "running", which find it on a CPU and which waiting for one?
 * /proc does not tell, but the kernel's account of both does in sum. What is left are waits that
 * ended while it was looked at, as those for a fast disk do.
 */
#ifndef TRAINPROF_SRC_COLLECT_OFFCPU_ONCPU_ESTIMATE_H
#define TRAINPROF_SRC_COLLECT_OFFCPU_ONCPU_ESTIMATE_H

#include "collect/process/procfs.h"

#include "trainprof/model/task.h"

#include <stdbool.h>
#include <stdint.h>

/* Zero-initialised: never looked at. */
struct tp_oncpu_estimate {
	bool was_taken;
	struct tp_procfs_schedstat last;
	double run_ns;   /* it ran, and no look has been given for it yet */
	double delay_ns; /* likewise it wanted a CPU; negative: owed, a wait is accounted at its end
			  */
};

/*
 * A look that stands for `elapsed_ns` found it running, with this account of its time so far. It is
 * on a CPU when it has run for at least half of that more than earlier looks were given, so that
 * looks on a CPU add up to the time it ran; else waiting for one, likewise, with one wait that is
 * not over yet; else TP_STATE_BLOCKED.
 */
enum tp_state tp_oncpu_estimate_state(struct tp_oncpu_estimate *share,
				      const struct tp_procfs_schedstat *now, double elapsed_ns);

#endif
