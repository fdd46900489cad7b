/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that run kernels on a stack of their own (switched_stack.h), each with a sampling event
 * that wakes us at every sample: who called the kernel is read some 0.1 ms later, before the thread
 * can have gone on, and remembered for the samples that the inherited events take.
 *
 * What it samples is not put into the sink. After the first ones it is four times rarer than the
 * others, and it ends when it tells nothing new any more; a thread that told nothing at all is left
 * alone for a while.
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
	const struct tp_task_tree *tree;         /* borrowed, as are the stacks: */
	struct tp_perf_callchain *stacks;        /* of the samples that lack callers */
	uint64_t period_ns;                      /* of those */
	struct tp_switched_stack_watched *items; /* heap */
	size_t n;
	size_t capacity;
	int epoll_fd; /* readable when a sample was taken */
	uint64_t seed;
	struct tp_map rests_ns; /* task -> when it may be watched again */
};

/* period_ns: between samples of the inherited events. Returns 0, or an errno: then there is nothing
 * to release. */
int tp_switched_stack_watch_init(struct tp_switched_stack_watch *watch,
				 const struct tp_task_tree *tree, struct tp_perf_callchain *stacks,
				 uint64_t period_ns, uint64_t seed);
void tp_switched_stack_watch_release(struct tp_switched_stack_watch *watch);

/* Learn from what was sampled just now. Soon after the descriptor became readable. */
void tp_switched_stack_watch_read(struct tp_switched_stack_watch *watch);
/* Now and then: watch threads whose callers are wanted, let go of those that tell nothing new. */
void tp_switched_stack_watch_update(struct tp_switched_stack_watch *watch, uint64_t now_ns);

#endif
