/* SPDX-License-Identifier: Apache-2.0 */
/* Sums the time of stacks by function and by source line. */
#include "view_functions.h"

#include "trainprof/base/cxx_name.h"
#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- which frames are one function ---- */

static uint64_t function_key(const struct tp_frame *frame)
{
	uint64_t place = frame->kind == TP_FRAME_PYTHON ? frame->function_start >> 32
			 : frame->symbol                ? 0
			 : frame->function_start        ? frame->function_start
							: frame->address;
	uint64_t where = frame->kind == TP_FRAME_PYTHON ? frame->file : frame->module;
	return tp_hash_mix(tp_hash_mix((uint64_t)frame->kind << 32 | frame->symbol, where), place);
}

/* Hot stacks keep the threads of a trainer together: they are loader threads if none of them is in
 * a compute team. */
static void find_loaders(struct tp_view_functions *functions)
{
	const struct tp_profile *profile = functions->profile;
	const struct tp_task *tasks = profile->trace->tasks;
	functions->loaders = tp_alloc(profile->trace->n_tasks + 1);
	for (size_t i = 0; i < profile->n_processes; i++) {
		uint32_t leader = profile->processes[i].task;
		bool has_loader = false;
		bool has_team = false;
		for (size_t k = 0; k < profile->n_threads; k++) {
			const struct tp_thread_result *thread = &profile->threads[k];
			bool is_of_it = tasks[thread->task].pid == tasks[leader].pid;
			has_loader |= is_of_it && thread->role == TP_THREAD_LOADER;
			has_team |= is_of_it && thread->role == TP_THREAD_TEAM;
		}
		if (profile->processes[i].role == TP_ROLE_LOADER)
			functions->loaders[leader] = TP_VIEW_LOADER_PROCESS;
		else if (has_loader && !has_team)
			functions->loaders[leader] = TP_VIEW_LOADER_THREADS;
	}
}

void tp_view_functions_init(struct tp_view_functions *functions, const struct tp_profile *profile)
{
	const struct tp_trace *trace = profile->trace;
	struct tp_map numbers = {0};
	*functions = (struct tp_view_functions){.profile = profile};
	functions->of_frame = tp_alloc((trace->n_frames + 1) * sizeof(uint32_t));
	for (uint32_t i = 1; i < trace->n_frames; i++) {
		uint64_t key = function_key(&trace->frames[i]);
		uint64_t number = functions->n;
		if (!tp_map_get(&numbers, key, &number)) {
			tp_map_set(&numbers, key, number);
			TP_ARRAY_PUSH(functions->frame, functions->n, functions->capacity) = i;
		}
		functions->of_frame[i] = (uint32_t)number;
		functions->has_python |= trace->frames[i].kind == TP_FRAME_PYTHON;
	}
	tp_map_release(&numbers);
	find_loaders(functions);
}

void tp_view_functions_release(struct tp_view_functions *functions)
{
	free(functions->of_frame);
	free(functions->frame);
	free(functions->loaders);
	*functions = (struct tp_view_functions){0};
}

const struct tp_frame *tp_view_function_frame(const struct tp_view_functions *functions,
					      uint32_t function)
{
	return &functions->profile->trace->frames[functions->frame[function]];
}

const char *tp_view_function_name(const struct tp_view_functions *functions, uint32_t function,
				  char *plain, size_t size)
{
	const struct tp_trace *trace = functions->profile->trace;
	const struct tp_frame *frame = tp_view_function_frame(functions, function);
	const char *symbol = tp_trace_string(trace, frame->symbol);
	const char *module = tp_text_base_name(tp_trace_string(trace, frame->module));
	if (*symbol && frame->kind != TP_FRAME_PYTHON && tp_cxx_name_demangle(plain, size, symbol))
		return plain;
	if (*symbol)
		return symbol;
	snprintf(plain, size, "%.120s+0x%llx", *module ? module : "[unknown]",
		 (unsigned long long)frame->address);
	return plain;
}

/* ---- which stacks are counted ---- */

static bool is_of_loader(const struct tp_view_functions *functions, const struct tp_hot_stack *hot)
{
	enum tp_view_loaders loaders = functions->loaders[hot->task];
	return loaders == TP_VIEW_LOADER_PROCESS ||
	       (loaders == TP_VIEW_LOADER_THREADS && hot->part == TP_N_PARTS);
}

bool tp_view_is_selected(const struct tp_view_functions *functions,
			 const struct tp_view_selection *selection, const struct tp_hot_stack *hot)
{
	if (selection->part != TP_N_PARTS && hot->part != selection->part)
		return false;
	if (selection->task != TP_NO_TASK && hot->task != selection->task)
		return false;
	if (selection->only_loaders && !is_of_loader(functions, hot))
		return false;
	if (selection->state == TP_VIEW_ALL_TIME)
		return true;
	return (hot->state == TP_STATE_ON_CPU) == (selection->state == TP_VIEW_CPU_TIME);
}

uint64_t tp_view_selected_ns(const struct tp_view_functions *functions,
			     const struct tp_view_selection *selection)
{
	const struct tp_profile *profile = functions->profile;
	uint64_t sum = 0;
	for (size_t i = 0; i < profile->n_hot; i++)
		if (tp_view_is_selected(functions, selection, &profile->hot[i]))
			sum += profile->hot[i].time_ns;
	return sum;
}

struct tp_view_selection tp_view_select_all(const struct tp_view_functions *functions)
{
	return (struct tp_view_selection){.part = TP_N_PARTS,
					  .task = TP_NO_TASK,
					  .only_python = functions->has_python};
}

const uint32_t *tp_view_frames(const struct tp_view_functions *functions,
			       const struct tp_view_selection *selection,
			       const struct tp_stack *stack, uint32_t *room, uint32_t *n)
{
	const struct tp_frame *frames = functions->profile->trace->frames;
	*n = 0;
	for (uint32_t i = 0; selection->only_python && i < stack->n_frames; i++)
		if (frames[stack->frames[i]].kind == TP_FRAME_PYTHON && *n < TP_STACK_MAX_FRAMES)
			room[(*n)++] = stack->frames[i];
	if (*n)
		return room;
	*n = stack->n_frames;
	return stack->frames;
}

/* ---- sums ---- */

static int compare_costs(const void *a, const void *b)
{
	const struct tp_view_cost *x = a;
	const struct tp_view_cost *y = b;
	if (x->self_ns != y->self_ns)
		return x->self_ns < y->self_ns ? 1 : -1;
	if (x->total_ns != y->total_ns)
		return x->total_ns < y->total_ns ? 1 : -1;
	return (x->function > y->function) - (x->function < y->function);
}

/* One frame of a selected stack. */
struct frame_visit {
	size_t stack;   /* number of the stack, from 1 */
	uint32_t depth; /* 0: the innermost frame */
	uint32_t frame;
	uint64_t time_ns;
};

typedef void frame_callback(void *context, const struct frame_visit *visit);

/* Visits the frames of all selected stacks, stack by stack, the innermost frame first. */
static void walk_frames(const struct tp_view_functions *functions,
			const struct tp_view_selection *selection, frame_callback *visit,
			void *context)
{
	const struct tp_profile *profile = functions->profile;
	for (size_t i = 0; i < profile->n_hot; i++) {
		const struct tp_hot_stack *hot = &profile->hot[i];
		const struct tp_stack *stack = tp_trace_stack(profile->trace, hot->stack);
		if (!tp_view_is_selected(functions, selection, hot))
			continue;
		uint32_t room[TP_STACK_MAX_FRAMES];
		uint32_t n;
		const uint32_t *frames = tp_view_frames(functions, selection, stack, room, &n);
		for (uint32_t f = 0; f < n; f++) {
			const struct frame_visit one = {i + 1, f, frames[f], hot->time_ns};
			visit(context, &one);
		}
	}
}

/* Adds the time of a stack to a function or line in it. One that is in the stack several times is
 * counted once; seen_in has the stack that was counted last. */
static void add_time(uint64_t *self_ns, uint64_t *total_ns, size_t *seen_in,
		     const struct frame_visit *visit)
{
	if (!visit->depth)
		*self_ns += visit->time_ns;
	if (*seen_in != visit->stack)
		*total_ns += visit->time_ns;
	*seen_in = visit->stack;
}

struct cost_sums {
	const struct tp_view_functions *functions;
	struct tp_view_cost *costs; /* by function */
	size_t *seen_in;            /* by function */
	uint64_t *by_frame;
};

static void add_cost(void *context, const struct frame_visit *visit)
{
	struct cost_sums *sums = context;
	uint32_t function = sums->functions->of_frame[visit->frame];
	struct tp_view_cost *cost = &sums->costs[function];
	add_time(&cost->self_ns, &cost->total_ns, &sums->seen_in[function], visit);
	sums->by_frame[visit->frame] += visit->time_ns;
}

/* Notes the line with most time of each function: each of its frames is one line. */
static void note_lines(struct cost_sums *sums)
{
	const struct tp_view_functions *functions = sums->functions;
	const struct tp_trace *trace = functions->profile->trace;
	struct tp_map lines = {0};
	for (uint32_t i = 1; i < trace->n_frames; i++) {
		uint64_t sum = 0;
		if (!sums->by_frame[i] || !trace->frames[i].line)
			continue;
		uint64_t key = (uint64_t)functions->of_frame[i] << 32 | trace->frames[i].line;
		tp_map_get(&lines, key, &sum);
		sum += sums->by_frame[i];
		tp_map_set(&lines, key, sum);
		struct tp_view_cost *cost = &sums->costs[functions->of_frame[i]];
		if (sum > cost->line_ns) {
			cost->line_ns = sum;
			cost->line = trace->frames[i].line;
		}
	}
	tp_map_release(&lines);
}

struct tp_view_cost *tp_view_costs(const struct tp_view_functions *functions,
				   const struct tp_view_selection *selection, size_t *n)
{
	size_t n_frames = functions->profile->trace->n_frames;
	struct tp_view_cost *costs = tp_alloc((functions->n + 1) * sizeof(*costs));
	struct cost_sums sums = {.functions = functions, .costs = costs};
	sums.seen_in = tp_alloc((functions->n + 1) * sizeof(*sums.seen_in));
	sums.by_frame = tp_alloc((n_frames + 1) * sizeof(*sums.by_frame));
	walk_frames(functions, selection, add_cost, &sums);
	note_lines(&sums);
	free(sums.seen_in);
	free(sums.by_frame);
	*n = 0;
	for (uint32_t i = 0; i < functions->n; i++) {
		if (!costs[i].total_ns)
			continue;
		costs[*n] = costs[i];
		costs[(*n)++].function = i;
	}
	if (*n)
		qsort(costs, *n, sizeof(*costs), compare_costs);
	return costs;
}

static int compare_lines(const void *a, const void *b)
{
	const struct tp_view_line_cost *x = a;
	const struct tp_view_line_cost *y = b;
	return (x->line > y->line) - (x->line < y->line);
}

struct source_line_sums {
	const struct tp_trace *trace;
	uint32_t file;
	struct tp_map at; /* index of a line */
	struct tp_view_line_cost *lines;
	size_t *seen_in; /* by index */
	size_t n;
	size_t capacity;
	size_t seen_capacity;
};

static void add_line(void *context, const struct frame_visit *visit)
{
	struct source_line_sums *sums = context;
	const struct tp_frame *frame = &sums->trace->frames[visit->frame];
	uint64_t k = sums->n;
	if (frame->file != sums->file || !frame->line)
		return;
	if (!tp_map_get(&sums->at, frame->line, &k)) {
		tp_map_set(&sums->at, frame->line, k);
		size_t n_seen = sums->n;
		TP_ARRAY_PUSH(sums->lines, sums->n, sums->capacity) =
			(struct tp_view_line_cost){.line = frame->line};
		TP_ARRAY_PUSH(sums->seen_in, n_seen, sums->seen_capacity) = 0;
	}
	assert(sums->lines && k < sums->n);
	add_time(&sums->lines[k].self_ns, &sums->lines[k].total_ns, &sums->seen_in[k], visit);
}

struct tp_view_line_cost *tp_view_line_costs(const struct tp_view_functions *functions,
					     const struct tp_view_selection *selection,
					     uint32_t file, size_t *n)
{
	struct source_line_sums sums = {.trace = functions->profile->trace, .file = file};
	walk_frames(functions, selection, add_line, &sums);
	free(sums.seen_in);
	tp_map_release(&sums.at);
	if (sums.n)
		qsort(sums.lines, sums.n, sizeof(*sums.lines), compare_lines);
	*n = sums.n;
	return sums.lines;
}

/* ---- native code ---- */

static int compare_addresses(const void *a, const void *b)
{
	const struct tp_view_address *x = a;
	const struct tp_view_address *y = b;
	return (x->address > y->address) - (x->address < y->address);
}

/* Counts the samples on a CPU of each stack. */
static uint64_t *count_stacks(const struct tp_trace *trace, uint64_t *n_all)
{
	uint64_t *counts = tp_alloc((trace->n_stacks + 1) * sizeof(*counts));
	*n_all = 0;
	for (size_t i = 0; i < trace->n_samples; i++) {
		const struct tp_sample *sample = &trace->samples[i];
		if (sample->state != TP_STATE_ON_CPU || !sample->stack)
			continue;
		counts[sample->stack]++;
		(*n_all)++;
	}
	return counts;
}

struct tp_view_address *tp_view_addresses(const struct tp_view_functions *functions,
					  uint32_t function, size_t *n, uint64_t *n_all)
{
	const struct tp_trace *trace = functions->profile->trace;
	uint64_t *counts = count_stacks(trace, n_all);
	struct tp_view_address *found = NULL;
	struct tp_map at = {0};
	size_t capacity = 0;
	*n = 0;
	for (size_t i = 1; i < trace->n_stacks; i++) {
		const struct tp_stack *stack = &trace->stacks[i];
		for (uint32_t f = 0; counts[i] && f < stack->n_frames; f++) {
			uint32_t frame = stack->frames[f];
			uint64_t k = *n;
			if (functions->of_frame[frame] != function)
				continue;
			if (!tp_map_get(&at, trace->frames[frame].address, &k)) {
				tp_map_set(&at, trace->frames[frame].address, k);
				TP_ARRAY_PUSH(found, *n, capacity) = (struct tp_view_address){
					.address = trace->frames[frame].address};
			}
			assert(found && k < *n);
			found[k].n_self += f ? 0 : counts[i];
			found[k].n_total += counts[i];
			/* a recursive function is counted at its innermost frame */
			break;
		}
	}
	tp_map_release(&at);
	free(counts);
	if (*n)
		qsort(found, *n, sizeof(*found), compare_addresses);
	return found;
}
