/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the thread of a process whose loop counters are read beside those of the first thread.
 *
 * Training mostly runs in the first thread, and a thread that loads data has loops as well. A
 * thread other than the first has the training only where the first one does nothing meanwhile: it
 * waits in join(), or in the event loop of a user interface. Reading one thread too many costs time
 * and is otherwise harmless, because analysis uses the counters of the thread that trains.
 */
#ifndef TRAINPROF_SRC_COLLECT_CALLSTACK_COUNTING_THREAD_H
#define TRAINPROF_SRC_COLLECT_CALLSTACK_COUNTING_THREAD_H

#include <stdbool.h>
#include <sys/types.h>

/* Zero-initialised: no other thread. */
struct tp_counting_thread {
	pid_t tid; /* 0 = none is known */
	bool is_chosen;
	unsigned n_votes;   /* samples of it, less those of further threads */
	unsigned n_without; /* samples of further threads since its last one */
	unsigned n_row;     /* samples of it since the last one of the first thread */
	unsigned n_first;   /* in the present group of samples */
	unsigned n;
};

/* Adds a sample of a thread on a CPU. */
void tp_counting_thread_add(struct tp_counting_thread *self, pid_t tid, bool is_first);

/* Returns true if this thread, which is not the first one, is to be read. */
bool tp_counting_thread_is(const struct tp_counting_thread *self, pid_t tid);

#endif
