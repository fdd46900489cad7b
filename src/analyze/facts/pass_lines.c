/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the lines of a Python program that hold the time of each part.
 *
 * Needs: labels of the main thread, steps, window, the loop's function. Gives: profile->lines,
 * step.python_lines_ratio.
 *
 * The line of the loop is that of the looping function on the stack, whatever it calls: "for batch
 * in loader" holds the wait for the batch. In a framework's trainer that line is not the user's,
 * and if a loader runs in the trainer it is not specific: so the innermost line of the user's own
 * files is summed, too.
 *
 * A loop over elements spends its time in the interpreter and in the small calls it makes: array
 * calls instead save both. So the lines are summed that may be such loops.
 */
#include "analyze/analysis.h"
#include "analyze/steps/call_tree.h"
#include "analyze/thresholds.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_EACH = 8 }; /* lines per part and kind */

/* Frames that represent a stack; 0 = none. */
struct line_frames {
	uint32_t loop;
	uint32_t own;
};

struct line_sum {
	struct tp_line_result line;
	uint64_t label_ns[TP_N_LABELS];
};

/* Time of an own line on the main thread, on CPUs or waiting for one. */
struct line_work {
	uint64_t all_ns;
	uint64_t queue_ns; /* of it: waited for a CPU */
	uint64_t interpreter_ns;
};

struct line_sums {
	const struct tp_analysis *analysis;
	struct line_frames *by_stack; /* heap */
	bool *is_done;                /* heap, by stack */
	struct tp_map index;          /* hash of part, kind, file, line -> row */
	struct line_sum *rows;        /* heap */
	size_t n;
	size_t capacity;
	struct tp_map work_index; /* hash of an own line -> row of work */
	struct line_work *work;   /* heap */
	size_t n_work;
	size_t work_capacity;
};

/* If a function calls itself, its outermost frame is the loop's. */
static struct line_frames find_line_frames(const struct tp_analysis *analysis, uint32_t id)
{
	const struct tp_trace *trace = analysis->trace;
	const struct tp_stack *stack = tp_trace_stack(trace, id);
	struct line_frames found = {0};
	for (uint32_t i = 0; i < stack->n_frames; i++) {
		const struct tp_frame *frame = &trace->frames[stack->frames[i]];
		if (frame->kind != TP_FRAME_PYTHON || !frame->line)
			continue;
		if (!found.own && analysis->frame_flags[stack->frames[i]] & TP_FRAME_IS_OWN)
			found.own = stack->frames[i];
		if (analysis->loop_function &&
		    tp_call_tree_function(frame) == analysis->loop_function)
			found.loop = stack->frames[i];
	}
	return found;
}

/* A thread that lost its CPU, or whose Python frames could not be read, remains in the same
 * code. */
static struct line_frames line_frames_of(struct line_sums *sums, const struct tp_segment *segment,
					 struct line_frames before)
{
	if (segment->sample == TP_NO_SAMPLE)
		return before;
	uint32_t stack = sums->analysis->trace->samples[segment->sample].stack;
	if (!sums->analysis->classes[stack].has_python)
		return before;
	if (!sums->is_done[stack])
		sums->by_stack[stack] = find_line_frames(sums->analysis, stack);
	sums->is_done[stack] = true;
	return sums->by_stack[stack];
}

static struct line_sum *row_of(struct line_sums *sums, enum tp_part part, bool of_own,
			       const struct tp_frame *frame)
{
	uint64_t key = tp_hash_mix((uint64_t)frame->file << 32 | frame->line, frame->symbol);
	key = tp_hash_mix(key, (uint64_t)part * 2 + of_own);
	uint64_t at;
	if (!tp_map_get(&sums->index, key, &at)) {
		at = sums->n;
		tp_map_set(&sums->index, key, at);
		TP_ARRAY_PUSH(sums->rows, sums->n, sums->capacity) =
			(struct line_sum){.line = {.part = part,
						   .is_own = of_own,
						   .file = frame->file,
						   .symbol = frame->symbol,
						   .line = frame->line}};
	}
	return &sums->rows[at];
}

static void add_work(struct line_sums *sums, const struct tp_frame *own, enum tp_label label,
		     uint64_t ns)
{
	enum tp_part part = tp_label_part(label);
	uint64_t key = tp_hash_mix((uint64_t)own->file << 32 | own->line, own->symbol);
	uint64_t at;
	bool is_queue = label == TP_LABEL_IDLE_RUNNABLE;
	if (!is_queue && part != TP_PART_COMPUTE && part != TP_PART_MEMORY && part != TP_PART_HOST)
		return;
	if (!tp_map_get(&sums->work_index, key, &at)) {
		at = sums->n_work;
		tp_map_set(&sums->work_index, key, at);
		TP_ARRAY_PUSH(sums->work, sums->n_work, sums->work_capacity) =
			(struct line_work){0};
	}
	assert(sums->work && at < sums->n_work);
	sums->work[at].all_ns += ns;
	sums->work[at].queue_ns += is_queue ? ns : 0;
	sums->work[at].interpreter_ns += label == TP_LABEL_HOST_INTERPRETER ? ns : 0;
}

static void add(struct line_sums *sums, struct line_frames line_frames, enum tp_label label,
		uint64_t ns)
{
	const struct tp_frame *frames = sums->analysis->trace->frames;
	enum tp_part part = tp_label_part(label);
	struct line_sum *row;
	if (line_frames.own)
		add_work(sums, &frames[line_frames.own], label, ns);
	if (line_frames.loop) {
		row = row_of(sums, part, false, &frames[line_frames.loop]);
		row->line.time_ns += ns;
		row->label_ns[label] += ns;
	}
	if (line_frames.own && line_frames.own != line_frames.loop) {
		row = row_of(sums, part, true, &frames[line_frames.own]);
		row->line.time_ns += ns;
		row->label_ns[label] += ns;
	}
}

static void sum_lines(struct line_sums *sums)
{
	const struct tp_analysis *analysis = sums->analysis;
	const struct tp_profile *profile = analysis->profile;
	const struct tp_timeline *timeline = tp_analysis_main_timeline(analysis);
	struct line_frames line_frames = {0};
	size_t step = 0;
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		line_frames = line_frames_of(sums, segment, line_frames);
		uint64_t ns = profile->is_of_steps
				      ? 0
				      : tp_segment_ns_in(segment, profile->window_start_ns,
							 profile->window_end_ns);
		while (step < profile->n_steps && profile->steps[step].end_ns <= segment->start_ns)
			step++;
		for (size_t k = step; profile->is_of_steps && k < profile->n_steps &&
				      profile->steps[k].start_ns < segment->end_ns;
		     k++)
			if (profile->steps[k].kind == TP_STEP_STEADY)
				ns += tp_segment_ns_in(segment, profile->steps[k].start_ns,
						       profile->steps[k].end_ns);
		if (ns && !segment->is_of_device)
			add(sums, line_frames, segment->label, ns);
	}
}

static int row_order(const void *a, const void *b)
{
	const struct tp_line_result *x = &((const struct line_sum *)a)->line;
	const struct tp_line_result *y = &((const struct line_sum *)b)->line;
	if (x->part != y->part)
		return (x->part > y->part) - (x->part < y->part);
	if (x->is_own != y->is_own)
		return x->is_own - y->is_own;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? 1 : -1;
	return (x->line > y->line) - (x->line < y->line);
}

static enum tp_label largest_label(const struct line_sum *row)
{
	int best = 0;
	for (int label = 1; label < TP_N_LABELS; label++)
		if (row->label_ns[label] > row->label_ns[best])
			best = label;
	return (enum tp_label)best;
}

static void set_lines(const struct line_sums *sums, struct tp_profile *profile,
		      struct tp_arena *arena)
{
	profile->lines = tp_arena_array(arena, sums->n + 1, sizeof(*profile->lines));
	size_t n_alike = 0;
	for (size_t i = 0; i < sums->n; i++) {
		const struct line_sum *row = &sums->rows[i];
		bool is_alike = i && row[-1].line.part == row->line.part &&
				row[-1].line.is_own == row->line.is_own;
		n_alike = is_alike ? n_alike + 1 : 0;
		if (n_alike >= MAX_EACH)
			continue;
		profile->lines[profile->n_lines] = row->line;
		profile->lines[profile->n_lines++].label = largest_label(row);
	}
}

static void set_python_lines(const struct line_sums *sums, struct tp_profile *profile)
{
	uint64_t sum_ns = 0;
	if (!sums->n_work) {
		tp_profile_set_missing(profile, TP_FACT_STEP_PYTHON_LINES,
				       "no line of a Python program was seen at work");
		return;
	}
	for (size_t i = 0; i < sums->n_work; i++) {
		const struct line_work *work = &sums->work[i];
		double busy_ns = (double)(work->all_ns - work->queue_ns);
		if ((double)work->interpreter_ns >= TP_PYTHON_LINE_MIN * busy_ns && busy_ns > 0)
			sum_ns += work->all_ns;
	}
	double ratio = (double)sum_ns / (double)profile->total_ns;
	tp_profile_set(profile, TP_FACT_STEP_PYTHON_LINES, ratio < 1 ? ratio : 1, TP_ORIGIN_SAMPLED,
		       1);
}

enum tp_status tp_pass_lines(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	if (analysis->main_task == TP_NO_TASK || !analysis->profile->total_ns)
		return TP_OK;
	size_t n_stacks = analysis->trace->n_stacks;
	struct line_sums sums = {.analysis = analysis};
	sums.by_stack = tp_alloc((n_stacks + 1) * sizeof(*sums.by_stack));
	sums.is_done = tp_alloc((n_stacks + 1) * sizeof(*sums.is_done));
	sum_lines(&sums);
	if (sums.n)
		qsort(sums.rows, sums.n, sizeof(*sums.rows), row_order);
	set_lines(&sums, analysis->profile, analysis->arena);
	set_python_lines(&sums, analysis->profile);
	tp_map_release(&sums.work_index);
	free(sums.work);
	tp_map_release(&sums.index);
	free(sums.by_stack);
	free(sums.is_done);
	free(sums.rows);
	return TP_OK;
}
