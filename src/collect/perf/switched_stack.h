/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Callers of code that works on a stack of its own.
 *
 * Kernels that are compiled at run time may move the stack pointer to a workspace on the heap, with
 * the one that they came with in its lowest words. What perf copies then is matrices. The callers
 * are in the memory of the process, where they are read a little later than the sample was taken.
 *
 * They are believed when the code returns behind a call by pointer, from where tables lead to the
 * thread's first frame without a guess, and when they were read before the thread could go on: a
 * kernel lasts for a millisecond or less, and what runs next there overwrites their words, or
 * leaves its own. So threads whose callers nobody knows are watched for a while
 * (switched_stack_watch.h), and samples that are looked at later are given the callers that were
 * found at their place. Where those vary, but begin and end alike, a frame without a module stands
 * for what is between; where already the kernel's caller varies nothing is told.
 */
#ifndef TRAINPROF_SRC_COLLECT_PERF_SWITCHED_STACK_H
#define TRAINPROF_SRC_COLLECT_PERF_SWITCHED_STACK_H

#include "collect/process/task_tree.h"
#include "perf_decode.h"

#include "trainprof/base/map.h"
#include "trainprof/stack/unwind.h"

#include <stdbool.h>
#include <stddef.h>

enum { TP_SWITCHED_STACK_REQUESTS = 16 };

/* What was found so far. All zero is empty. */
struct tp_switched_stack {
	struct tp_switched_stack_chain *chains; /* heap */
	size_t n;
	size_t capacity;
	struct tp_map by_place; /* thread and its own stack pointer -> index */
	uint64_t n_news;        /* times that something was found that was not known */
	pid_t wanted[TP_SWITCHED_STACK_REQUESTS]; /* threads whose callers were asked for in vain */
	size_t n_wanted;                          /* whoever watches them sets it to 0 */
};

void tp_switched_stack_release(struct tp_switched_stack *known);

/*
 * Where tp_unwind() came to no end in code without a file, which it left in frames[0]: puts the
 * callers behind it, marked as guessed, and says so in `result`. False when they are not found:
 * then `result` is undefined. Frames behind the first may be overwritten either way.
 * is_fresh  the sample was taken just now: callers are read and remembered; else only remembered
 *           ones are given.
 * max       at least 2.
 */
bool tp_switched_stack_unwind(struct tp_switched_stack *known, const struct tp_task_tree_task *task,
			      const struct tp_perf_sample *sample, bool is_fresh,
			      struct tp_stack_frame *frames, size_t max,
			      struct tp_unwind_result *result);

#endif
