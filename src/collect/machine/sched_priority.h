/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Being on time among hundreds of busy threads. The loop needs a CPU seldom and briefly, but a
 * queue of 250 threads a CPU would hand it one only after half a second, when the rings are full.
 */
#ifndef TRAINPROF_SRC_COLLECT_MACHINE_SCHED_PRIORITY_H
#define TRAINPROF_SRC_COLLECT_MACHINE_SCHED_PRIORITY_H

struct tp_sched_priority {
	int nice;      /* before */
	int is_raised; /* whether it is to be restored */
};

/* Ask for short slices (any user, kernel 6.12 and later) and a better nice value (when allowed).
 * Only this process; restored where the target is forked. Who was started with another scheduling
 * policy (chrt, batch queues) keeps it. */
void tp_sched_priority_raise(struct tp_sched_priority *before);
void tp_sched_priority_restore(const struct tp_sched_priority *before);

#endif
