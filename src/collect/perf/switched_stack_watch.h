/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches threads that run kernels on their own stack (switched_stack.h). Each has a sampling event
 * that wakes us at every sample: the callers of the kernel are read about 0.1 ms later, before the
 * thread can have continued, and remembered for the samples of the inherited events.
 *
 * These samples are not emitted. After the first ones they are four times rarer than the others,
 * and they end when they bring nothing new; a thread that brought nothing at all is not watched
 * again for a while.
 */
#ifndef TRAINPROF_SRC_COLLECT_PERF_SWITCHED_STACK_WATCH_H
#define TRAINPROF_SRC_COLLECT_PERF_SWITCHED_STACK_WATCH_H

#include "collect/process/task_tree.h"
#include "perf_callchain.h"
#include "perf_event.h"

#include "trainprof/base/map.h"

#include <stddef.h>
#include <stdint.h>

struct tp_switched_stack_watched;

struct tp_switched_stack_watch {
	const struct tp_task_tree *tree;         /* borrowed, like the stacks: */
	struct tp_perf_callchain *stacks;        /* of the samples that lack callers */
	uint64_t period_ns;                      /* of those samples */
	struct tp_switched_stack_watched *items; /* heap */
	size_t n;
	size_t capacity;
	int epoll_fd; /* readable if a sample was taken */
	uint64_t seed;
	struct tp_map rests_ns; /* task -> time from which it may be watched again */
};

/* period_ns: between samples of the inherited events. Returns 0, or an errno: then there is nothing
 * to release. */
int tp_switched_stack_watch_init(struct tp_switched_stack_watch *watch,
				 const struct tp_task_tree *tree, struct tp_perf_callchain *stacks,
				 uint64_t period_ns, uint64_t seed);
void tp_switched_stack_watch_release(struct tp_switched_stack_watch *watch);

/* Reads the callers for the samples taken just now. Call soon after the descriptor became
 * readable. */
void tp_switched_stack_watch_read(struct tp_switched_stack_watch *watch);
/* Called now and then: watches threads whose callers are requested, and stops watching those that
 * bring nothing new. */
void tp_switched_stack_watch_update(struct tp_switched_stack_watch *watch, uint64_t now_ns);

#endif
