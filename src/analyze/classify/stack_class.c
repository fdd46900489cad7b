/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classifies stacks by the names of their frames.
 *
 * Phase: the outermost frame of a protecting phase (dataloader, communication, checkpoint, logging)
 * decides, because a page fault inside the loader belongs to the loader. Compute phases protect
 * nothing: they are only used if no other frame has a phase.
 */
#include "stack_class.h"

#include "frame_class.h"
#include "python_class.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <stdlib.h>
#include <string.h>

static const char *module_name(const struct tp_trace *trace, const struct tp_frame *frame)
{
	if (frame->kind == TP_FRAME_KERNEL)
		return "[kernel]";
	return tp_trace_string(trace, frame->module);
}

static struct tp_frame_class classify_frame(const struct tp_trace *trace,
					    const struct tp_patterns *patterns,
					    const struct tp_frame *frame)
{
	const char *symbol = tp_trace_string(trace, frame->symbol);
	if (frame->kind == TP_FRAME_PYTHON)
		return tp_python_class_find(patterns, tp_trace_string(trace, frame->file), symbol);
	struct tp_frame_class class =
		tp_patterns_frame(patterns, module_name(trace, frame), symbol);
	class.is_library = tp_python_class_is_installed(patterns, module_name(trace, frame));
	/* Code generated at run time is a kernel of a math library: the generators are oneDNN,
	 * XNNPACK or XLA; loaders do not generate code. */
	if (frame->kind == TP_FRAME_JIT && !class.leaf)
		class.leaf = TP_LEAF_MATH;
	return class;
}

/* An extension in C that the user built is no Python: like the functions of a compiled program it
 * computes, unless its name says something else. */
static bool is_own_extension(const struct tp_trace *trace, const struct tp_stack *stack,
			     const struct tp_frame_class *classes, uint32_t first)
{
	for (uint32_t i = first; i < stack->n_frames; i++) {
		const struct tp_frame *frame = &trace->frames[stack->frames[i]];
		if (frame->kind != TP_FRAME_NATIVE)
			return false;
		if (classes[stack->frames[i]].leaf != TP_LEAF_CALLER)
			return module_name(trace, frame)[0] == '/' &&
			       !classes[stack->frames[i]].is_library;
	}
	return false;
}

/* Returns where the function is defined: the file for Python, otherwise the module. */
static uint32_t home_of(const struct tp_frame *frame)
{
	return frame->kind == TP_FRAME_PYTHON ? frame->file : frame->module;
}

static bool is_same_function(const struct tp_frame *a, const struct tp_frame *b)
{
	return a->kind == b->kind && home_of(a) == home_of(b) && a->symbol == b->symbol;
}

static uint64_t function_key(const struct tp_frame *frame)
{
	return tp_hash_mix((uint64_t)home_of(frame) << 32 | frame->symbol, frame->kind);
}

static struct tp_frame_class *classify_frames(const struct tp_trace *trace,
					      const struct tp_patterns *patterns)
{
	struct tp_frame_class *classes = tp_alloc((trace->n_frames + 1) * sizeof(*classes));
	struct tp_map seen = {0}; /* functions: many lines or addresses have one result */
	for (size_t i = 1; i < trace->n_frames; i++) {
		const struct tp_frame *frame = &trace->frames[i];
		uint64_t at;
		if (tp_map_get(&seen, function_key(frame), &at) &&
		    is_same_function(frame, &trace->frames[at])) {
			classes[i] = classes[at];
			continue;
		}
		classes[i] = classify_frame(trace, patterns, frame);
		tp_map_set(&seen, function_key(frame), i);
	}
	tp_map_release(&seen);
	return classes;
}

/* Kernel frames come first. The outermost known one shows why the kernel was entered; a socket
 * below a read or write takes precedence. An interrupt ("caller" in the patterns) is unrelated to
 * the program: the interrupted code decides. */
static enum tp_leaf kernel_leaf(const struct tp_trace *trace, const struct tp_stack *stack,
				const struct tp_frame_class *classes, uint32_t *n_kernel)
{
	enum tp_leaf leaf = TP_LEAF_NONE;
	uint32_t i = 0;
	for (; i < stack->n_frames; i++) {
		if (trace->frames[stack->frames[i]].kind != TP_FRAME_KERNEL)
			break;
		unsigned found = classes[stack->frames[i]].leaf;
		if (found == TP_LEAF_CALLER)
			leaf = TP_LEAF_NONE;
		else if (found && found != TP_LEAF_KERNEL && leaf != TP_LEAF_NET)
			leaf = (enum tp_leaf)found;
		else if (!leaf)
			leaf = TP_LEAF_KERNEL;
	}
	*n_kernel = i;
	return leaf;
}

/* Returns the leaf of the innermost frame that has its own; for libc and the like the caller
 * decides. A copy that a decoder makes is a part of decoding. */
static enum tp_leaf user_leaf(const struct tp_stack *stack, const struct tp_frame_class *classes,
			      uint32_t first)
{
	unsigned found = TP_LEAF_NONE;
	for (uint32_t i = first; i < stack->n_frames; i++) {
		unsigned leaf = classes[stack->frames[i]].leaf;
		if (leaf == TP_LEAF_CALLER)
			continue;
		if (found == TP_LEAF_COPY)
			return leaf == TP_LEAF_DECODE ? TP_LEAF_DECODE : TP_LEAF_COPY;
		if (leaf != TP_LEAF_COPY)
			return (enum tp_leaf)leaf;
		found = leaf;
	}
	return (enum tp_leaf)found;
}

/* In the kernel's entry and exit code only the user function shows which system call it was: not
 * all time of sched_yield or write is below a kernel function with its own name. */
static enum tp_leaf call_leaf(const struct tp_stack *stack, const struct tp_frame_class *classes,
			      uint32_t first)
{
	if (first >= stack->n_frames)
		return TP_LEAF_KERNEL;
	unsigned leaf = classes[stack->frames[first]].leaf;
	bool is_call = leaf == TP_LEAF_SPIN || leaf == TP_LEAF_READ || leaf == TP_LEAF_OPEN ||
		       leaf == TP_LEAF_WRITE || leaf == TP_LEAF_NET || leaf == TP_LEAF_LOCK ||
		       leaf == TP_LEAF_ALLOC;
	return is_call ? (enum tp_leaf)leaf : TP_LEAF_KERNEL;
}

/* System calls and copies below a Python function that transfers data belong to the transfer. */
static bool is_transfer(const struct tp_trace *trace, const struct tp_stack *stack,
			const struct tp_frame_class *classes)
{
	for (uint32_t i = 0; i < stack->n_frames; i++)
		if (trace->frames[stack->frames[i]].kind == TP_FRAME_PYTHON)
			return classes[stack->frames[i]].leaf == TP_LEAF_PICKLE;
	return false;
}

/* Returns the identity of a function. Generated code has no names and no tables; all code on one
 * page counts as one function. */
static uint64_t address_key(const struct tp_frame *frame)
{
	enum { PAGE_BITS = 12 };
	if (frame->function_start)
		return frame->function_start;
	return frame->symbol ? frame->symbol : frame->address >> PAGE_BITS;
}

/* Returns the function that works, or that calls the C library or the kernel to do it. */
static uint64_t function_of(const struct tp_trace *trace, const struct tp_stack *stack,
			    const struct tp_frame_class *classes, uint32_t first)
{
	for (uint32_t i = first; i < stack->n_frames; i++) {
		const struct tp_frame *frame = &trace->frames[stack->frames[i]];
		if (classes[stack->frames[i]].leaf == TP_LEAF_CALLER)
			continue;
		uint64_t place = address_key(frame);
		return place ? tp_hash_mix(frame->module, place) : 0;
	}
	return 0;
}

static void add_frame(struct tp_stack_class *class, const struct tp_frame_class *frame)
{
	/* Called from the leaf outwards: later frames are further out and win. But importing a
	 * module may run a whole program. */
	if (frame->phase == TP_PHASE_IMPORT) {
		if (!class->phase && !class->has_python)
			class->phase = TP_PHASE_IMPORT;
	} else if (tp_phase_owns_time(frame->phase)) {
		class->phase = frame->phase;
	} else if (frame->phase == TP_PHASE_COMPUTE && !tp_phase_owns_time(class->phase)) {
		class->phase = TP_PHASE_COMPUTE;
	}
	class->in_evaluation |= frame->phase == TP_PHASE_EVALUATION;
	class->is_loader_root |= frame->is_loader_root;
	class->is_team_root |= frame->is_team_root;
	class->is_comm_root |= frame->is_comm_root;
	class->is_helper_root |= frame->is_helper_root;
	class->is_task_root |= frame->is_task_root;
	class->is_fork_server |= frame->is_fork_server;
	class->is_fetch_root |= frame->is_fetch_root;
	/* A function that starts processes, or waits for their end, does so through its inner
	 * frames. */
	bool is_reason =
		frame->doing == TP_FUNCTION_START || frame->doing == TP_FUNCTION_WAIT_CHILD;
	if (frame->doing == TP_FUNCTION_WAIT_TASK)
		class->doing = class->has_python ? class->doing : TP_FUNCTION_WAIT_WORK;
	else if (!class->doing || is_reason)
		class->doing = frame->doing;
	bool owns = frame->leaf == TP_LEAF_MATH || frame->leaf == TP_LEAF_INTERPRETER;
	if (owns && !class->owner)
		class->owner = (enum tp_leaf)frame->leaf;
}

static struct tp_stack_class classify_stack(const struct tp_trace *trace,
					    const struct tp_stack *stack,
					    const struct tp_frame_class *classes)
{
	struct tp_stack_class class = {0};
	uint32_t n_kernel;
	class.leaf = kernel_leaf(trace, stack, classes, &n_kernel);
	if (!class.leaf)
		class.leaf = user_leaf(stack, classes, n_kernel);
	else if (class.leaf == TP_LEAF_KERNEL)
		class.leaf = call_leaf(stack, classes, n_kernel);
	if (is_transfer(trace, stack, classes))
		class.leaf = TP_LEAF_PICKLE;
	class.function = function_of(trace, stack, classes, n_kernel);
	for (uint32_t i = n_kernel; i < stack->n_frames; i++) {
		const struct tp_frame_class *frame = &classes[stack->frames[i]];
		add_frame(&class, frame);
		class.has_python |= trace->frames[stack->frames[i]].kind == TP_FRAME_PYTHON;
		/* Outer frames of a forked process belong to its parent. */
		if (frame->is_entry)
			break;
	}
	if (!class.leaf && class.has_python && is_own_extension(trace, stack, classes, n_kernel))
		class.leaf = TP_LEAF_MATH;
	if (!class.phase && class.in_evaluation)
		class.phase = TP_PHASE_EVALUATION;
	return class;
}

/* A function around backward or the optimizer contains the training, whatever its name:
 * checkpoints() or run_with_logger() is then in no phase of its own. Functions are identified by
 * all their frames. A compiler that calls the code of one step to trace it does not train. */
static void clear_callers(const struct tp_trace *trace, struct tp_frame_class *classes)
{
	struct tp_map holders = {0};
	for (size_t id = 1; id < trace->n_stacks; id++) {
		const struct tp_stack *stack = &trace->stacks[id];
		bool is_inside = false;
		for (uint32_t i = 0; i < stack->n_frames; i++) {
			const struct tp_frame *frame = &trace->frames[stack->frames[i]];
			if (is_inside && frame->kind == TP_FRAME_PYTHON)
				tp_map_set(&holders, function_key(frame), 1);
			unsigned doing = classes[stack->frames[i]].doing;
			is_inside |= doing == TP_FUNCTION_TRAIN || doing == TP_FUNCTION_UPDATE;
			if (classes[stack->frames[i]].is_entry)
				break;
		}
	}
	for (size_t i = 1; i < trace->n_frames; i++) {
		uint64_t one;
		struct tp_frame_class *class = &classes[i];
		if (trace->frames[i].kind == TP_FRAME_PYTHON && class->phase != TP_PHASE_COMPUTE &&
		    class->phase != TP_PHASE_COMPILE &&
		    tp_map_get(&holders, function_key(&trace->frames[i]), &one))
			class->phase = TP_PHASE_NONE;
	}
	tp_map_release(&holders);
}

static uint8_t *flags_of(const struct tp_trace *trace, const struct tp_frame_class *classes,
			 struct tp_arena *arena)
{
	uint8_t *flags = tp_arena_array(arena, trace->n_frames + 1, sizeof(*flags));
	for (size_t i = 1; i < trace->n_frames; i++)
		if (trace->frames[i].kind == TP_FRAME_PYTHON)
			flags[i] = (uint8_t)((classes[i].is_library ? 0 : TP_FRAME_IS_OWN) |
					     (classes[i].is_entry ? TP_FRAME_IS_ENTRY : 0));
	return flags;
}

struct tp_stack_class *tp_stack_class_build(const struct tp_trace *trace,
					    const struct tp_patterns *patterns,
					    struct tp_arena *arena, uint8_t **flags)
{
	struct tp_frame_class *frames = classify_frames(trace, patterns);
	if (flags)
		*flags = flags_of(trace, frames, arena);
	clear_callers(trace, frames);
	struct tp_stack_class *classes =
		tp_arena_array(arena, trace->n_stacks + 1, sizeof(*classes));
	for (size_t i = 1; i < trace->n_stacks; i++)
		classes[i] = classify_stack(trace, &trace->stacks[i], frames);
	free(frames);
	return classes;
}
