/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the stack of a sample. */
#include "perf_callchain.h"

#include "switched_stack.h"

#include "collect/machine/stage_clock.h"

#include "trainprof/base/process_memory.h"
#include "trainprof/stack/modules.h"
#include "trainprof/stack/unwind.h"

#include <linux/perf_event.h>
#include <string.h>

enum { KERNEL_FRAMES_MAX = 128 };

void tp_perf_callchain_init(struct tp_perf_callchain *stacks, struct tp_task_tree *tree,
			    struct tp_sink *sink)
{
	stacks->tree = tree;
	tp_stack_intern_init(&stacks->put, sink);
	stacks->n_whole = stacks->n_cut = stacks->n_skipped = 0;
	memset(stacks->holes, 0, sizeof(stacks->holes));
	stacks->others = (struct tp_switched_stack){0};
}

void tp_perf_callchain_release(struct tp_perf_callchain *stacks)
{
	tp_stack_intern_release(&stacks->put);
	tp_switched_stack_release(&stacks->others);
}

/* Such high values mark the parts of a chain and are not addresses. */
static bool is_marker(uint64_t address)
{
	return address >= (uint64_t)PERF_CONTEXT_MAX;
}

static size_t add_kernel_frames(struct tp_perf_callchain *stacks,
				const struct tp_perf_sample *sample)
{
	struct tp_module *kernel = tp_modules_kernel(tp_task_tree_modules(stacks->tree));
	size_t n = 0;
	for (size_t i = 0; i < sample->n_chain && n < KERNEL_FRAMES_MAX; i++)
		if (!is_marker(sample->chain[i])) {
			stacks->frames[n] = (struct tp_stack_frame){.module = kernel};
			stacks->frames[n].address = sample->chain[i];
			stacks->frames[n].flags = n ? TP_FRAME_RETURN : 0;
			n++;
		}
	if (n == 0)
		stacks->frames[n++] =
			(struct tp_stack_frame){.module = kernel, .address = sample->ip};
	return n;
}

/* The kernel copies a stack up to the first page that is not present, as in a frame with a large
 * array of which only the ends were written; all callers lie above it. The page is made present for
 * later samples, once: if that does not help, there is no page. */
static void load_missing_page(struct tp_perf_callchain *stacks, pid_t pid,
			      const struct tp_perf_sample *sample)
{
	uint64_t hole = sample->regs.sp + sample->stack_bytes;
	uint64_t page = hole / TP_PROCESS_MEMORY_PAGE + ((uint64_t)pid << 40);
	uint64_t *slot = &stacks->holes[page % TP_PERF_CALLCHAIN_MISSING_PAGES];
	if (sample->stack_bytes >= sample->stack_asked || *slot == page)
		return;
	*slot = page;
	tp_process_memory_touch(pid, hole, sample->stack_asked - sample->stack_bytes);
}

/* True for code without a file that has no caller on the copied stack. */
static bool has_no_callers(const struct tp_perf_callchain *stacks, size_t n,
			   const struct tp_unwind_result *result)
{
	const struct tp_module *module = stacks->frames[n].module;
	return result->end != TP_UNWIND_COMPLETE && result->n_frames == 1 && module &&
	       module->kind == TP_FRAME_JIT;
}

/* Unwinds the user part after n kernel frames. */
static void unwind_user(struct tp_perf_callchain *stacks, const struct tp_task_tree_task *task,
			const struct tp_perf_sample *sample, bool is_fresh, size_t n,
			struct tp_unwind_result *result)
{
	struct tp_unwind_result own;
	tp_unwind(task->maps, &sample->regs, sample->stack, sample->stack_bytes, stacks->frames + n,
		  TP_STACK_MAX_FRAMES - n, result);
	if (has_no_callers(stacks, n, result) &&
	    tp_switched_stack_unwind(&stacks->others, task, sample, is_fresh, stacks->frames + n,
				     TP_STACK_MAX_FRAMES - n, &own))
		*result = own;
}

/* Adds the user part after n kernel frames; returns the new number of frames. */
static size_t add_user_frames(struct tp_perf_callchain *stacks,
			      const struct tp_task_tree_task *task,
			      const struct tp_perf_sample *sample, bool is_unwound, bool is_fresh,
			      size_t n, uint32_t *flags)
{
	struct tp_unwind_result result;
	if (sample->has_regs && sample->stack && is_unwound) {
		unwind_user(stacks, task, sample, is_fresh, n, &result);
		bool is_whole = result.end == TP_UNWIND_COMPLETE;
		*flags = is_whole ? 0 : TP_STACK_TRUNCATED;
		stacks->n_whole += is_whole;
		stacks->n_cut += !is_whole;
		if (!is_whole)
			load_missing_page(stacks, task->info.pid, sample);
		return n + result.n_frames;
	}
	stacks->n_skipped += !is_unwound;
	if (sample->is_kernel && !sample->has_regs)
		return n; /* no user code below: the thread is just being born or is exiting */
	*flags = TP_STACK_TRUNCATED;
	uint64_t ip = sample->has_regs ? sample->regs.ip : sample->ip;
	tp_maps_find(task->maps, ip, 0, &stacks->frames[n]);
	return n + 1;
}

static uint32_t put_stack(struct tp_perf_callchain *stacks, const struct tp_task_tree_task *task,
			  const struct tp_perf_sample *sample, bool is_unwound,
			  const struct tp_python_places *places)
{
	uint32_t flags = 0;
	struct tp_stage_clock *stages = tp_task_tree_stages(stacks->tree);
	enum tp_stage before = tp_stage_enter(stages, TP_STAGE_UNWIND);
	uint64_t began_ns = stages ? stages->since_ns : 0;
	size_t n = sample->is_kernel ? add_kernel_frames(stacks, sample) : 0;
	n = add_user_frames(stacks, task, sample, is_unwound, places != NULL, n, &flags);
	tp_stage_enter(stages, TP_STAGE_SYMBOLS);
	uint32_t stack =
		places ? tp_stack_intern_merged(&stacks->put, stacks->frames, n, flags, places)
		       : tp_stack_intern_frames(&stacks->put, stacks->frames, n, flags);
	tp_stage_enter(stages, before);
	stacks->took_ns += stages ? stages->since_ns - began_ns : 0;
	return stack;
}

struct tp_sample tp_perf_stacks_sample(struct tp_perf_callchain *stacks,
				       const struct tp_task_tree_task *task,
				       const struct tp_perf_record *record, bool is_unwound,
				       const struct tp_python_places *places)
{
	const struct tp_perf_sample *from = &record->of.sample;
	return (struct tp_sample){
		.task = task->info.id,
		.state = TP_STATE_ON_CPU,
		.cause = TP_CAUSE_NONE,
		.flags = (from->is_kernel ? TP_SAMPLE_KERNEL : 0) |
			 (is_unwound ? 0 : TP_SAMPLE_LEAF_ONLY),
		.cpu = record->cpu,
		.syscall = -1,
		.time_ns = record->time_ns,
		.stack = put_stack(stacks, task, from, is_unwound, places),
	};
}

void tp_perf_callchain_remember(struct tp_perf_callchain *stacks,
				const struct tp_task_tree_task *task,
				const struct tp_perf_sample *sample)
{
	struct tp_unwind_result result;
	if (sample->has_regs && sample->stack && !sample->is_kernel)
		unwind_user(stacks, task, sample, true, 0, &result);
}
