/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of native programs: a function that is called once per step gets a breakpoint at its entry,
 * and each call is emitted as a mark (TP_MARK_CALL) with the function's name.
 *
 * The function is chosen while the program runs. Candidates come from the call stacks of a
 * program's first thread: the callees of the function that loops, then the functions on the path to
 * it. Each is watched until its calls, or bursts of them, show how regular they are. Of the regular
 * ones the slowest is kept, unless it does its work in functions that also run elsewhere, as an
 * evaluation does. Only the calls of the function that is kept are emitted, of bursts the first
 * ones, from the beginning of its trial.
 *
 * All work is bounded: programs, samples, candidates, trials. Programs that run Python are left to
 * counter_watch.h. Times are CLOCK_MONOTONIC ns. Not thread-safe.
 */
#ifndef TRAINPROF_SRC_COLLECT_WATCH_ENTRY_WATCH_H
#define TRAINPROF_SRC_COLLECT_WATCH_ENTRY_WATCH_H

#include "watch_list.h"

#include "trainprof/model/sink.h"

#include <stdbool.h>
#include <stdint.h>

struct tp_entry_thread;

/* Returns the address of a function of a file in the thread's memory; false if it is not mapped. */
typedef bool tp_entry_address_fn(void *context, const struct tp_task_tree_task *task,
				 const char *path, uint64_t start, uint64_t *address);

enum { TP_ENTRY_THREADS_MAX = 4 };

struct tp_entry_watch {
	struct tp_watch_list *list;
	struct tp_sink *sink;
	tp_entry_address_fn *find_address;
	void *context;
	struct tp_entry_thread *threads[TP_ENTRY_THREADS_MAX]; /* heap; NULL = none */
	bool is_off; /* the program marks its steps itself: no function is watched any more */
};

void tp_entry_watch_init(struct tp_entry_watch *self, struct tp_watch_list *list,
			 struct tp_sink *sink, tp_entry_address_fn *find_address, void *context);
/* Call after the list's watches were closed. */
void tp_entry_watch_release(struct tp_entry_watch *self);

/* Adds a sample of a program's first thread that was emitted. */
void tp_entry_watch_add(struct tp_entry_watch *self, const struct tp_sample *sample, pid_t tid);
/* Called about ten times per second after the list was drained: begins and evaluates trials. */
void tp_entry_watch_update(struct tp_entry_watch *self, uint64_t now_ns);

#endif
