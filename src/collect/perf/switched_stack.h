/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the callers of code that runs on its own stack.
 *
 * Kernels that are compiled at run time may move the stack pointer to a workspace on the heap, and
 * keep the original one in its lowest words. Perf then copies matrices instead of a stack. The
 * callers are in the memory of the process, which is read a little later than the sample was taken.
 *
 * They are accepted if the code returns to an address after an indirect call, if from there unwind
 * tables lead to the thread's first frame without guessing, and if they were read before the thread
 * could continue: a kernel lasts for a millisecond or less, and the next code there overwrites the
 * words or leaves its own. So threads with unknown callers are watched for a while
 * (switched_stack_watch.h), and samples that are processed later get the callers that were found at
 * their place. If those vary, but begin and end alike, a frame without a module represents the part
 * between; if already the kernel's caller varies, no callers are reported.
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

/* The callers found so far. All zero is empty. */
struct tp_switched_stack {
	struct tp_switched_stack_chain *chains; /* heap */
	size_t n;
	size_t capacity;
	struct tp_map by_place;                   /* thread and its own stack pointer -> index */
	uint64_t n_news;                          /* number of times that something new was found */
	pid_t wanted[TP_SWITCHED_STACK_REQUESTS]; /* threads whose callers were requested but
						     unknown */
	size_t n_wanted;                          /* reset to 0 by the watcher */
};

void tp_switched_stack_release(struct tp_switched_stack *known);

/*
 * For a stack on which tp_unwind() reached no end in code without a file, which it left in
 * frames[0]: appends the callers, marked as guessed, and sets that in `result`. Returns false if
 * they are not found: then `result` is undefined. Frames after the first may be overwritten in both
 * cases.
 * is_fresh  the sample was taken just now: callers are read and remembered; otherwise only the
 *           remembered ones are used.
 * max       at least 2.
 */
bool tp_switched_stack_unwind(struct tp_switched_stack *known, const struct tp_task_tree_task *task,
			      const struct tp_perf_sample *sample, bool is_fresh,
			      struct tp_stack_frame *frames, size_t max,
			      struct tp_unwind_result *result);

#endif
