/* SPDX-License-Identifier: Apache-2.0 */
/* Raises the priority so that trainprof runs on time among hundreds of busy threads. The loop needs
 * a CPU rarely and briefly, but a queue of 250 threads per CPU would give it one only after half a
 * second, when the rings are full. */
#ifndef TRAINPROF_SRC_COLLECT_MACHINE_SCHED_PRIORITY_H
#define TRAINPROF_SRC_COLLECT_MACHINE_SCHED_PRIORITY_H

struct tp_sched_priority {
	int nice;      /* original value */
	int is_raised; /* true if it must be restored */
};

/* Requests short slices (any user, kernel 6.12 and later) and a better nice value (if permitted),
 * only for this process; restored before the target is forked. A process that was started with
 * another scheduling policy (chrt, batch queues) keeps it. */
void tp_sched_priority_raise(struct tp_sched_priority *before);
void tp_sched_priority_restore(const struct tp_sched_priority *before);

#endif
