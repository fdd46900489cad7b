/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perf events for a tree of threads that already runs.
 *
 * Each thread gets its own events, and its later children are followed by inheritance. Threads are
 * listed and joined until a list contains nothing new. Between two lists a thread may be born of a
 * thread that was joined already (its fork is then in a ring, and it is covered) or of one that
 * was not (it is joined next). If its creator was just being joined, both can happen: the thread is
 * then reported twice from then on, and the dispatcher uses one of the two (perf_dispatch.h).
 *
 * Descriptors: two per thread and CPU. If they do not suffice, switches are left out; if not even
 * samplers fit, only the threads with the most recent CPU time are joined.
 */
#ifndef TRAINPROF_SRC_COLLECT_PERF_PERF_ATTACH_H
#define TRAINPROF_SRC_COLLECT_PERF_PERF_ATTACH_H

#include "perf_dispatch.h"
#include "perf_event.h"

#include "trainprof/base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tp_perf_attach {
	const struct tp_host *host;
	struct tp_task_tree *tree;
	struct tp_map listeners; /* for the dispatcher */
	size_t n_met;            /* threads that existed */
	size_t n_joined;         /* those that have events */
	size_t most;             /* threads that may have events */
	bool has_converged;      /* the last list contained nothing new */
	struct tp_map ending;    /* tids that could not be joined because they were exiting */
};

/* Chooses by the limit of open files: lowers setup->has_switches, sets `most`. The tree must be
 * scanned before (tp_task_tree_scan_existing). */
void tp_perf_attach_plan(struct tp_perf_attach *attach, const struct tp_host *host,
			 struct tp_task_tree *tree, uint32_t n_cpus, struct tp_perf_setup *setup);
void tp_perf_attach_release(struct tp_perf_attach *attach);

/* Returns the thread whose events own the rings: a live one of the target, its first if possible; 0
 * if the target has ended. */
pid_t tp_perf_attach_first(const struct tp_perf_attach *attach, pid_t target);

/* Joins all threads. `drain` processes the records that are in the rings by now. Switches stay off;
 * samples begin at once, the dispatcher decides about their use. The maps of all processes are read
 * afterwards. */
void tp_perf_attach_join(struct tp_perf_attach *attach, struct tp_perf_events *events, pid_t target,
			 pid_t first, uint64_t *seed, void (*drain)(void *context), void *context);

/* Switches are on since `since_ns`: a thread that sleeps now has slept since then, unless its
 * records say otherwise. */
void tp_perf_attach_mark_blocked(const struct tp_perf_attach *attach, uint64_t since_ns);

#endif
