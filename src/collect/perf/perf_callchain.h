/* SPDX-License-Identifier: Apache-2.0 */
/* Converts a sample to a stack in the sink: kernel part as recorded, user part unwound. */
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
	uint64_t holes[TP_PERF_CALLCHAIN_MISSING_PAGES]; /* hashes of the pages that were loaded
							    last */
	struct tp_switched_stack others;
	uint64_t n_whole;   /* reached the thread's first frame */
	uint64_t n_cut;     /* did not reach it */
	uint64_t n_skipped; /* not unwound, on request */
	uint64_t took_ns;   /* total time, by the monotonic clock; 0 if stages are not timed */
};

void tp_perf_callchain_init(struct tp_perf_callchain *stacks, struct tp_task_tree *tree,
			    struct tp_sink *sink);
void tp_perf_callchain_release(struct tp_perf_callchain *stacks);

/* Returns the sample for the sink and emits its stack. Without `is_unwound` only the innermost user
 * frame is kept. places: the thread's current Python position, for a sample that was taken just
 * now; NULL = the sample is older. */
struct tp_sample tp_perf_stacks_sample(struct tp_perf_callchain *stacks,
				       const struct tp_task_tree_task *task,
				       const struct tp_perf_record *record, bool is_unwound,
				       const struct tp_python_places *places);

/* For a sample that was taken just now: remembers what identifies the callers of similar
 * samples. */
void tp_perf_callchain_remember(struct tp_perf_callchain *stacks,
				const struct tp_task_tree_task *task,
				const struct tp_perf_sample *sample);

#endif
