/* SPDX-License-Identifier: Apache-2.0 */
/* From a sample to a stack in the sink: kernel part as recorded, user part unwound. */
#ifndef TRAINPROF_SRC_COLLECT_PERF_PERF_CALLCHAIN_H
#define TRAINPROF_SRC_COLLECT_PERF_PERF_CALLCHAIN_H

#include "collect/callstack/python_processes.h"
#include "collect/callstack/stack_intern.h"
#include "collect/process/task_tree.h"
#include "perf_decode.h"
#include "switched_stack.h"

#include <stdbool.h>
#include <stdint.h>

enum { TP_PERF_CALLCHAIN_MISSING_PAGES = 64 };

struct tp_perf_callchain {
	struct tp_task_tree *tree;
	struct tp_stack_intern put;
	struct tp_stack_frame frames[TP_STACK_MAX_FRAMES];
	uint64_t holes[TP_PERF_CALLCHAIN_MISSING_PAGES]; /* pages mended last, by their hash */
	struct tp_switched_stack others;
	uint64_t n_whole;   /* reached the thread's first frame */
	uint64_t n_cut;     /* did not */
	uint64_t n_skipped; /* not unwound, on request */
	uint64_t took_ns;   /* all of it, by the monotonic clock; 0 where stages are not timed */
};

void tp_perf_callchain_init(struct tp_perf_callchain *stacks, struct tp_task_tree *tree,
			    struct tp_sink *sink);
void tp_perf_callchain_release(struct tp_perf_callchain *stacks);

/* The sample for the sink, with its stack put. Without `is_unwound` only the innermost user frame
 * is kept. places: where the thread was in Python just then, for a sample that was taken just now;
 * NULL: it was taken some time ago. */
struct tp_sample tp_perf_stacks_sample(struct tp_perf_callchain *stacks,
				       const struct tp_task_tree_task *task,
				       const struct tp_perf_record *record, bool is_unwound,
				       const struct tp_python_places *places);

/* Of a sample that was taken just now: remember what tells the callers of others like it. */
void tp_perf_callchain_remember(struct tp_perf_callchain *stacks,
				const struct tp_task_tree_task *task,
				const struct tp_perf_sample *sample);

#endif
