/* SPDX-License-Identifier: Apache-2.0 */
/* Searches call stacks for functions that may be called once per step. */
#include "entry_choice.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <stdlib.h>
#include <string.h>

/* The main path: where no function has this share of a level, several are called in turn. */
static const double way_share = 0.8;
/* A function in nearly every stack is entered only once, as far as stacks show. */
static const double always_share = 0.98;
/* Share of all samples: a function with less is not part of every step. */
static const double part_share = 0.03;
static const double overlap_share = 0.5;

void tp_entry_stacks_init(struct tp_entry_stacks *stacks)
{
	memset(stacks, 0, sizeof(*stacks));
}

void tp_entry_stacks_release(struct tp_entry_stacks *stacks)
{
	free(stacks->functions);
	tp_map_release(&stacks->by_key);
}

void tp_entry_stacks_clear(struct tp_entry_stacks *stacks)
{
	stacks->n = 0;
}

/* A program may call these anywhere: a breakpoint on the printing of each hundredth loss would find
 * regular steps that are a hundred. */
static bool is_of_runtime(const char *path)
{
	static const char *const names[] = {"ld-linux", "ld-musl",  "libc-", "libc.so",
					    "libc++",   "libgcc_s", "libm-", "libgfortran",
					    "libm.so",  "libstdc++"};
	const char *name = tp_text_base_name(path);
	for (size_t i = 0; i < TP_ARRAY_LEN(names); i++)
		if (tp_text_starts_with(name, names[i]))
			return true;
	return false;
}

static uint32_t number_of(struct tp_entry_stacks *stacks, const struct tp_sink *sink,
			  const struct tp_frame *frame)
{
	uint64_t names = (uint64_t)frame->module << 32 | frame->symbol;
	uint64_t key = tp_hash_mix(names, frame->function_start);
	uint64_t number;
	if (tp_map_get(&stacks->by_key, key, &number))
		return (uint32_t)number;
	tp_map_set(&stacks->by_key, key, stacks->n_functions);
	bool is_file = frame->kind == TP_FRAME_NATIVE && frame->symbol &&
		       !is_of_runtime(tp_strtab_text(&sink->strings, frame->module));
	TP_ARRAY_PUSH(stacks->functions, stacks->n_functions, stacks->functions_capacity) =
		(struct tp_entry_function){.path = frame->module,
					   .symbol = frame->symbol,
					   .start = is_file ? frame->function_start : 0};
	return (uint32_t)stacks->n_functions - 1;
}

void tp_entry_stacks_add(struct tp_entry_stacks *stacks, const struct tp_sink *sink, uint32_t id)
{
	struct tp_stack stack;
	struct tp_entry_stack item = {0};
	tp_sink_stack_get(sink, id, &stack);
	if (stack.n_frames == 0 || stack.flags & TP_STACK_TRUNCATED ||
	    stacks->n == TP_ENTRY_SAMPLES_MAX)
		return;
	for (uint32_t i = stack.n_frames; i > 0; i--) {
		struct tp_frame frame;
		tp_sink_frame_get(sink, stack.frames[i - 1], &frame);
		if (frame.kind == TP_FRAME_KERNEL)
			break;
		if (frame.kind == TP_FRAME_PYTHON)
			stacks->has_python = true;
		item.leaf = number_of(stacks, sink, &frame);
		if (item.n < TP_ENTRY_DEPTH_MAX)
			item.functions[item.n++] = item.leaf;
	}
	if (item.n > 0)
		stacks->items[stacks->n++] = item;
}

/* Counts for each function at a level the stacks that contain it, among the stacks on the path so
 * far. */
static size_t count_level(const struct tp_entry_stacks *stacks, const bool *is_on_way, size_t depth,
			  uint32_t *counts)
{
	size_t n = 0;
	memset(counts, 0, stacks->n_functions * sizeof(*counts));
	for (size_t i = 0; i < stacks->n; i++) {
		if (!is_on_way[i] || stacks->items[i].n <= depth)
			continue;
		counts[stacks->items[i].functions[depth]]++;
		n++;
	}
	return n;
}

static uint32_t most_of(const struct tp_entry_stacks *stacks, const uint32_t *counts)
{
	uint32_t best = 0;
	for (uint32_t i = 1; i < stacks->n_functions; i++)
		if (counts[i] > counts[best])
			best = i;
	return best;
}

struct candidates {
	uint32_t items[TP_ENTRY_CANDIDATES_MAX];
	size_t n;
};

static void push(struct candidates *to, uint32_t function)
{
	for (size_t i = 0; i < to->n; i++)
		if (to->items[i] == function)
			return;
	if (to->n < TP_ENTRY_CANDIDATES_MAX)
		to->items[to->n++] = function;
}

/* Adds the functions of a level, those with most samples first, and removes them from the
 * counts. */
static void push_level(const struct tp_entry_stacks *stacks, uint32_t *counts,
		       struct candidates *to)
{
	for (;;) {
		uint32_t most = most_of(stacks, counts);
		if ((double)counts[most] < part_share * (double)stacks->n || counts[most] == 0)
			return;
		if (stacks->functions[most].start &&
		    (double)counts[most] < always_share * (double)stacks->n)
			push(to, most);
		counts[most] = 0;
	}
}

/* Adds the functions on the path, the innermost first. */
static void push_way(const struct tp_entry_stacks *stacks, const uint32_t *way, size_t depth,
		     struct candidates *to)
{
	while (depth-- > 0)
		if (stacks->functions[way[depth]].start)
			push(to, way[depth]);
}

size_t tp_entry_stacks_choose(const struct tp_entry_stacks *stacks,
			      uint32_t out[TP_ENTRY_CANDIDATES_MAX], size_t *n_parts)
{
	struct candidates found = {.n = 0};
	uint32_t way[TP_ENTRY_DEPTH_MAX];
	size_t depth = 0;
	*n_parts = 0;
	if (stacks->n == 0)
		return 0;
	bool *is_on_way = tp_alloc(stacks->n * sizeof(*is_on_way));
	uint32_t *counts = tp_alloc(stacks->n_functions * sizeof(*counts));
	memset(is_on_way, true, stacks->n * sizeof(*is_on_way));
	for (; depth < TP_ENTRY_DEPTH_MAX; depth++) {
		size_t n = count_level(stacks, is_on_way, depth, counts);
		way[depth] = most_of(stacks, counts);
		bool goes_on = n > 0 && counts[way[depth]] >= way_share * (double)n;
		push_level(stacks, counts, &found);
		if (!goes_on)
			break;
		for (size_t i = 0; i < stacks->n; i++)
			is_on_way[i] = is_on_way[i] && stacks->items[i].n > depth &&
				       stacks->items[i].functions[depth] == way[depth];
	}
	*n_parts = found.n;
	push_way(stacks, way, depth, &found);
	free(is_on_way);
	free(counts);
	memcpy(out, found.items, found.n * sizeof(*out));
	return found.n;
}

static bool is_inside(const struct tp_entry_stack *stack, uint32_t function)
{
	for (size_t i = 0; i < stack->n; i++)
		if (stack->functions[i] == function)
			return true;
	return false;
}

bool tp_entry_stacks_overlap(const struct tp_entry_stacks *stacks, uint32_t function)
{
	size_t n = 0;
	size_t n_shared = 0;
	for (size_t i = 0; i < stacks->n; i++) {
		if (!is_inside(&stacks->items[i], function))
			continue;
		bool is_shared = false;
		for (size_t k = 0; k < stacks->n && !is_shared; k++)
			is_shared = stacks->items[k].leaf == stacks->items[i].leaf &&
				    !is_inside(&stacks->items[k], function);
		n++;
		n_shared += is_shared;
	}
	return (double)n_shared > overlap_share * (double)n;
}
