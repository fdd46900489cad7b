/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perf events for a tree of threads that runs already.
 *
 * Each thread gets events of its own, and what it creates from then on is followed by inheritance.
 * Threads are listed and joined until a list brings nothing new. Between two lists a thread may be
 * born of one that was joined already (its birth is in a ring then, and it is covered) or of one
 * that was not (it is joined next). Where both happen, because its creator was being joined just
 * then, it is told of twice for ever, and the feed hears one of both (perf_dispatch.h).
 *
 * Descriptors: two per thread and CPU. When they do not suffice, switches are left out; when not
 * even samplers fit, only the threads are joined that have lately used most CPU time.
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
	struct tp_map listeners; /* for the feed */
	size_t n_met;            /* threads that were there */
	size_t n_joined;         /* of them, those with events */
	size_t most;             /* that may have events */
	bool has_converged;      /* the last list brought nothing new */
	struct tp_map ending;    /* tids that could not be joined any more */
};

/*
 * Choose by what the limit of open files allows: lowers setup->has_switches, sets `most`. The tree
 * has been met (tp_task_tree_scan_existing).
 */
void tp_perf_attach_plan(struct tp_perf_attach *attach, const struct tp_host *host,
			 struct tp_task_tree *tree, uint32_t n_cpus, struct tp_perf_setup *setup);
void tp_perf_attach_release(struct tp_perf_attach *attach);

/* The thread whose events own the rings: a living one of the target, its first if possible; 0 when
 * the target has ended. */
pid_t tp_perf_attach_first(const struct tp_perf_attach *attach, pid_t target);

/*
 * Join everybody. `drain` feeds the records that are in the rings by now. Switches stay off;
 * samples begin at once, the feed decides. Maps of all processes are read afterwards.
 */
void tp_perf_attach_join(struct tp_perf_attach *attach, struct tp_perf_events *events, pid_t target,
			 pid_t first, uint64_t *seed, void (*drain)(void *context), void *context);

/* Switches are on since then: who sleeps now has slept since, or its records tell otherwise. */
void tp_perf_attach_mark_blocked(const struct tp_perf_attach *attach, uint64_t since_ns);

#endif
