/*
 * Callers of code that works on a stack of its own.
 *
 * Kernels that are compiled at run time may move the stack pointer to a workspace on the heap, with
 * the one that they came with in its lowest words. What perf copies then is matrices. The callers
 * are in the memory of the process, where they are read a little later than the sample was taken.
 *
 * They are believed when the code returns behind a call by pointer, from where tables lead to the
 * thread's first frame without a guess: a call that is over leaves its words behind until others
 * need the room, the innermost first. Where they are gone those are told that were found at this
 * place before, unless they were not always the same.
 */
#ifndef TRAINPROF_SRC_COLLECT_OTHERSTACK_H
#define TRAINPROF_SRC_COLLECT_OTHERSTACK_H

#include "perf_record.h"
#include "tree.h"

#include "trainprof/base/map.h"
#include "trainprof/stack/unwind.h"

#include <stdbool.h>
#include <stddef.h>

/* What was found so far. All zero is empty. */
struct tp_otherstacks {
	struct tp_otherchain *chains; /* heap */
	size_t n;
	size_t capacity;
	struct tp_map by_place; /* thread and its own stack pointer -> index */
};

void tp_otherstacks_release(struct tp_otherstacks *known);

/*
 * Where tp_unwind() came to no end in code without a file, which it left in frames[0]: puts the
 * callers behind it, marked as guessed, and says so in `result`. False when they are not found:
 * then `result` is undefined. Frames behind the first may be overwritten either way. max: at least
 * 2.
 */
bool tp_otherstacks_unwind(struct tp_otherstacks *known, const struct tp_tree_task *task,
			   const struct tp_perf_sample *sample, struct tp_stack_frame *frames,
			   size_t max, struct tp_unwind_result *result);

#endif
