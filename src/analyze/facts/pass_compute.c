/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that compute, their share of spinning, and the owner of the code. Needs: labels, roles,
 * window. Gives: compute.*
 *
 * Compute is the time in which the main thread has a compute label. Members are the main thread and
 * the threads of its compute team; a member that used below one per cent of that time, or a tenth
 * of the busiest member's, is not counted: it only passes work to others.
 */
#include "analyze/attribution/group_activity.h"
#include "analyze/classify/frame_class.h"
#include "analyze/numeric/stats.h"
#include "analyze/roles/task_pool.h"
#include "analyze/thresholds.h"
#include "scalar_math.h"
#include "window_gauges.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_SLICES = TP_SCALAR_SLICES };

struct span {
	uint64_t start_ns;
	uint64_t end_ns;
};

/* A thread that lives for less than half of the window. */
struct passing {
	uint64_t lived_ns;
	uint64_t cpu_ns; /* computing */
};

struct compute {
	const struct tp_analysis *analysis;
	struct span *spans; /* of the main thread's compute, inside the window, in order; heap */
	size_t n_spans;
	size_t spans_capacity;
	uint64_t compute_ns;
	double cpu_ns[N_SLICES];     /* of members */
	double spin_ns[N_SLICES];    /* spinning part of cpu_ns */
	double library_ns[N_SLICES]; /* part of the time without spinning */
	double busy_ns;              /* of members, without spinning, during compute */
	uint64_t n_pieces;
	uint64_t *lasting_ns; /* CPU time of each member that lives for half of the window or
				 longer; heap */
	size_t n_lasting;
	size_t lasting_capacity;
	struct passing
		*passing; /* the other members: threads made for one parallel section; heap */
	size_t n_passing;
	size_t passing_capacity;
	struct tp_map pools; /* module -> CPU time */
	uint64_t team_cpu_ns;
	struct tp_map libraries; /* stack -> true if its math is of a library */
	struct tp_scalar scalar;
};

static bool clip(const struct tp_analysis *analysis, const struct tp_segment *segment,
		 struct span *out)
{
	const struct tp_profile *profile = analysis->profile;
	out->start_ns = segment->start_ns > profile->window_start_ns ? segment->start_ns
								     : profile->window_start_ns;
	out->end_ns =
		segment->end_ns < profile->window_end_ns ? segment->end_ns : profile->window_end_ns;
	return out->end_ns > out->start_ns;
}

static void collect_compute(struct compute *c)
{
	const struct tp_timeline *timeline =
		tp_analysis_timeline(c->analysis, c->analysis->main_task);
	for (size_t i = 0; i < timeline->n; i++) {
		struct span span;
		if (tp_label_part(timeline->segments[i].label) != TP_PART_COMPUTE ||
		    !clip(c->analysis, &timeline->segments[i], &span))
			continue;
		c->compute_ns += span.end_ns - span.start_ns;
		struct span *last = c->n_spans ? &c->spans[c->n_spans - 1] : NULL;
		if (last && last->end_ns == span.start_ns)
			last->end_ns = span.end_ns;
		else
			TP_ARRAY_PUSH(c->spans, c->n_spans, c->spans_capacity) = span;
	}
}

/* Length of the part of a span inside compute; *cursor only moves forward. */
static uint64_t in_compute_ns(const struct compute *c, const struct span *span, size_t *cursor)
{
	uint64_t sum = 0;
	while (*cursor < c->n_spans && c->spans[*cursor].end_ns <= span->start_ns)
		(*cursor)++;
	for (size_t i = *cursor; i < c->n_spans && c->spans[i].start_ns < span->end_ns; i++) {
		uint64_t start = c->spans[i].start_ns > span->start_ns ? c->spans[i].start_ns
								       : span->start_ns;
		uint64_t end =
			c->spans[i].end_ns < span->end_ns ? c->spans[i].end_ns : span->end_ns;
		sum += end - start;
	}
	return sum;
}

/* ---- one segment -------------------------------------------------------------------------- */

/* Returns the innermost frame that is neither of the kernel nor of a function whose caller decides
 * (libc). */
static const struct tp_frame *working_frame(const struct tp_analysis *analysis, uint32_t stack_id)
{
	const struct tp_trace *trace = analysis->trace;
	const struct tp_stack *stack = tp_trace_stack(trace, stack_id);
	for (uint32_t i = 0; i < stack->n_frames; i++) {
		const struct tp_frame *frame = &trace->frames[stack->frames[i]];
		if (frame->kind == TP_FRAME_KERNEL)
			continue;
		if (tp_patterns_frame(analysis->patterns, tp_trace_string(trace, frame->module),
				      tp_trace_string(trace, frame->symbol))
			    .leaf != TP_LEAF_CALLER)
			return frame;
	}
	return NULL;
}

/* Returns true for math outside the program's own file. Matching names is slow, so the result of
 * each stack is cached. */
static bool is_library(struct compute *c, uint32_t stack_id)
{
	const struct tp_analysis *analysis = c->analysis;
	if (analysis->classes[stack_id].leaf != TP_LEAF_MATH)
		return false;
	uint64_t known;
	if (tp_map_get(&c->libraries, stack_id, &known))
		return known;
	const struct tp_trace *trace = analysis->trace;
	const struct tp_frame *frame = working_frame(analysis, stack_id);
	const char *exe = tp_trace_string(trace, trace->tasks[analysis->profile->trainer].exe);
	known = frame && strcmp(tp_trace_string(trace, frame->module), exe) != 0;
	tp_map_set(&c->libraries, stack_id, known);
	return known;
}

static size_t slice_of(const struct tp_analysis *analysis, const struct span *span)
{
	const struct tp_profile *profile = analysis->profile;
	double at = (double)(span->start_ns - profile->window_start_ns) +
		    (double)(span->end_ns - span->start_ns) / 2;
	double length = (double)(profile->window_end_ns - profile->window_start_ns);
	size_t slice = (size_t)(at / length * N_SLICES);
	return slice < N_SLICES ? slice : N_SLICES - 1;
}

/* Adds a segment on a CPU. */
static void add_segment(struct compute *c, const struct tp_segment *segment,
			const struct span *span, size_t *cursor)
{
	uint64_t inside = in_compute_ns(c, span, cursor);
	size_t slice = slice_of(c->analysis, span);
	enum tp_leaf leaf = TP_LEAF_NONE;
	uint32_t stack = 0;
	if (segment->sample != TP_NO_SAMPLE) {
		stack = c->analysis->trace->samples[segment->sample].stack;
		leaf = c->analysis->classes[stack].leaf;
	}
	c->cpu_ns[slice] += (double)inside;
	c->n_pieces += !segment->is_inferred;
	if (leaf == TP_LEAF_SPIN) {
		c->spin_ns[slice] += (double)inside;
		return;
	}
	if (inside && is_library(c, stack))
		c->library_ns[slice] += (double)inside;
	tp_scalar_add(&c->scalar, c->analysis->trace, stack, slice, (double)inside);
	c->busy_ns += (double)inside;
}

/* ---- members ------------------------------------------------------------------------------ */

/* Returns the runtime of a team thread: the module of the outermost frame that only teams have,
 * else of the outermost frame outside libc. 0 if no frame of the stack decides. */
static uint32_t pool_of(const struct tp_analysis *analysis, uint32_t stack_id)
{
	const struct tp_trace *trace = analysis->trace;
	const struct tp_stack *stack = tp_trace_stack(trace, stack_id);
	uint32_t outermost = 0;
	for (uint32_t i = stack->n_frames; i-- > 0;) {
		const struct tp_frame *frame = &trace->frames[stack->frames[i]];
		struct tp_frame_class class =
			tp_patterns_frame(analysis->patterns, tp_trace_string(trace, frame->module),
					  tp_trace_string(trace, frame->symbol));
		if (class.is_team_root)
			return frame->module;
		if (!outermost && class.leaf != TP_LEAF_CALLER && frame->kind != TP_FRAME_KERNEL)
			outermost = frame->module;
	}
	return outermost;
}

static void add_to_pool(struct compute *c, uint32_t task, uint64_t cpu_ns)
{
	const struct tp_trace *trace = c->analysis->trace;
	uint32_t pool = 0;
	for (size_t i = trace->sample_index[task]; i < trace->sample_index[task + 1] && !pool; i++)
		if (trace->samples[i].state == TP_STATE_ON_CPU)
			pool = pool_of(c->analysis, trace->samples[i].stack);
	uint64_t before = 0;
	(void)tp_map_get(&c->pools, pool, &before);
	if (pool)
		tp_map_set(&c->pools, pool, before + cpu_ns);
	c->team_cpu_ns += cpu_ns;
}

/* Returns true if names show other work: the pool that computes also compiles and loads. */
static bool is_other_work(const struct tp_analysis *analysis, const struct tp_segment *segment)
{
	if (segment->sample == TP_NO_SAMPLE)
		return false;
	uint32_t stack = analysis->trace->samples[segment->sample].stack;
	return tp_phase_owns_time(analysis->classes[stack].phase);
}

/* Returns true if a segment on a CPU computes. A team of a script's own threads also interprets. */
static bool is_computing(const struct tp_analysis *analysis, uint32_t task,
			 const struct tp_segment *segment)
{
	if (task == analysis->main_task)
		return tp_label_part(segment->label) == TP_PART_COMPUTE;
	return tp_activity_is_of(analysis, TP_THREAD_TEAM, task, segment) &&
	       tp_activity_of(analysis, TP_THREAD_TEAM, segment) != TP_ACTIVITY_SCRIPT &&
	       !is_other_work(analysis, segment);
}

static void add_member(struct compute *c, uint32_t task)
{
	const struct tp_profile *profile = c->analysis->profile;
	const struct tp_timeline *timeline = &c->analysis->timelines[task];
	size_t cursor = 0;
	uint64_t lived_ns = 0;
	uint64_t cpu_ns = 0;
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		struct span span;
		if (!clip(c->analysis, segment, &span))
			continue;
		lived_ns += span.end_ns - span.start_ns;
		if (segment->state != TP_STATE_ON_CPU || !is_computing(c->analysis, task, segment))
			continue;
		cpu_ns += span.end_ns - span.start_ns;
		add_segment(c, segment, &span, &cursor);
	}
	if (task != c->analysis->main_task)
		add_to_pool(c, task, cpu_ns);
	uint64_t window_ns = profile->window_end_ns - profile->window_start_ns;
	if (lived_ns * 2 < window_ns)
		TP_ARRAY_PUSH(c->passing, c->n_passing, c->passing_capacity) =
			(struct passing){lived_ns, cpu_ns};
	else
		TP_ARRAY_PUSH(c->lasting_ns, c->n_lasting, c->lasting_capacity) = cpu_ns;
}

/* CPU time below which a thread that lived for the whole window is not a member. */
static double part_limit_ns(const struct compute *c)
{
	uint64_t busiest = 0;
	for (size_t i = 0; i < c->n_lasting; i++)
		busiest = c->lasting_ns[i] > busiest ? c->lasting_ns[i] : busiest;
	return fmax(TP_TEAM_PART_MIN * (double)c->compute_ns,
		    TP_TEAM_OF_BUSIEST_MIN * (double)busiest);
}

/* Mean number of short-lived members at a time. Their minimum is proportional to their lifetime: a
 * thread that feeds a queue lives as long as its loader, and computes nothing. */
static double count_passing(const struct compute *c, double window_ns)
{
	double lived_ns = 0;
	for (size_t i = 0; i < c->n_passing; i++) {
		const struct passing *thread = &c->passing[i];
		double part = (double)thread->lived_ns / window_ns;
		if ((double)thread->cpu_ns >= part_limit_ns(c) * part && thread->cpu_ns)
			lived_ns += (double)thread->lived_ns;
	}
	return ceil(lived_ns / window_ns);
}

static size_t count_lasting(const struct compute *c)
{
	double least = part_limit_ns(c);
	size_t n = 0;
	for (size_t i = 0; i < c->n_lasting; i++)
		n += (double)c->lasting_ns[i] >= least;
	return n;
}

/* ---- facts -------------------------------------------------------------------------------- */

static double total(const double values[N_SLICES])
{
	double sum = 0;
	for (int i = 0; i < N_SLICES; i++)
		sum += values[i];
	return sum;
}

static void set_ratio(struct compute *c, enum tp_fact fact, const double part[N_SLICES],
		      const double whole[N_SLICES], const char *why)
{
	struct tp_profile *profile = c->analysis->profile;
	if (total(whole) <= 0) {
		tp_profile_set_missing(profile, fact, why);
		return;
	}
	struct tp_estimate estimate;
	tp_stats_ratio(part, whole, N_SLICES, &estimate);
	tp_profile_set(profile, fact, estimate.value, TP_ORIGIN_SAMPLED, 1);
	profile->facts[fact].has_interval = true;
	profile->facts[fact].low = estimate.low;
	profile->facts[fact].high = estimate.high;
	profile->facts[fact].n = c->n_pieces;
}

static size_t count_pools(const struct compute *c)
{
	size_t n = 0;
	size_t cursor = 0;
	uint64_t module;
	uint64_t cpu_ns;
	while (tp_map_next(&c->pools, &cursor, &module, &cpu_ns))
		n += (double)cpu_ns >= TP_TEAM_PART_MIN * (double)c->team_cpu_ns && cpu_ns > 0;
	return n;
}

static void set_facts(struct compute *c)
{
	struct tp_profile *profile = c->analysis->profile;
	double window_ns = (double)(profile->window_end_ns - profile->window_start_ns);
	double threads = (double)count_lasting(c) + count_passing(c, window_ns);
	if (profile->n_task_workers) /* no setting of threads changes the number of processes */
		tp_profile_set_missing(profile, TP_FACT_COMPUTE_THREADS,
				       "processes of a pool compute");
	else
		tp_profile_set(profile, TP_FACT_COMPUTE_THREADS, threads, TP_ORIGIN_DERIVED, 1);
	tp_profile_set(profile, TP_FACT_COMPUTE_POOLS, (double)count_pools(c), TP_ORIGIN_SAMPLED,
		       1);
	tp_profile_set(profile, TP_FACT_COMPUTE_BUSY, c->busy_ns / (double)c->compute_ns,
		       TP_ORIGIN_SAMPLED, 1);
	set_ratio(c, TP_FACT_COMPUTE_SPIN, c->spin_ns, c->cpu_ns, "no thread computed on a CPU");
	double work_ns[N_SLICES];
	for (int i = 0; i < N_SLICES; i++)
		work_ns[i] = c->cpu_ns[i] - c->spin_ns[i];
	set_ratio(c, TP_FACT_COMPUTE_LIBRARY, c->library_ns, work_ns,
		  "no thread computed on a CPU");
	double scalar_ns[N_SLICES];
	if (tp_scalar_sum(&c->scalar, scalar_ns))
		set_ratio(c, TP_FACT_COMPUTE_SCALAR, scalar_ns, work_ns,
			  "no thread computed on a CPU");
	else
		tp_profile_set_missing(profile, TP_FACT_COMPUTE_SCALAR,
				       "no sampled instruction was known to be arithmetic");
}

static const enum tp_fact all_facts[] = {TP_FACT_COMPUTE_THREADS, TP_FACT_COMPUTE_BUSY,
					 TP_FACT_COMPUTE_SPIN,    TP_FACT_COMPUTE_LIBRARY,
					 TP_FACT_COMPUTE_POOLS,   TP_FACT_COMPUTE_SCALAR};

static void set_all_missing(struct tp_profile *profile, const char *why)
{
	for (size_t i = 0; i < TP_ARRAY_LEN(all_facts); i++)
		tp_profile_set_missing(profile, all_facts[i], why);
}

/* If devices compute, CPU computation is not the training. */
static void rule_out_all(struct tp_profile *profile, const char *why)
{
	for (size_t i = 0; i < TP_ARRAY_LEN(all_facts); i++)
		tp_profile_rule_out(profile, all_facts[i], why);
}

/* Threads of a pool that loads and computes have the loader's role if they mainly load. */
static bool can_compute(const struct tp_analysis *analysis, uint32_t task)
{
	enum tp_thread_role role = analysis->threads[task].role;
	uint32_t leader = analysis->threads[task].leader;
	if (tp_task_pool_has_worker(analysis, analysis->profile->trainer, leader))
		return true;
	return leader == analysis->profile->trainer &&
	       (task == analysis->main_task || role == TP_THREAD_TEAM || role == TP_THREAD_LOADER);
}

enum tp_status tp_pass_compute(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	struct tp_profile *profile = analysis->profile;
	if (analysis->main_task == TP_NO_TASK || tp_window_gauges_length_s(analysis) <= 0) {
		set_all_missing(profile, "there is no trainer");
		return TP_OK;
	}
	if (profile->n_devices) {
		rule_out_all(profile, "devices compute");
		return TP_OK;
	}
	struct compute c = {.analysis = analysis};
	collect_compute(&c);
	if (c.compute_ns) {
		for (uint32_t task = 0; task < analysis->trace->n_tasks; task++)
			if (can_compute(analysis, task))
				add_member(&c, task);
		set_facts(&c);
	} else {
		set_all_missing(profile, "the trainer did not compute in the window");
	}
	tp_map_release(&c.pools);
	tp_map_release(&c.libraries);
	tp_scalar_release(&c.scalar);
	free(c.passing);
	free(c.lasting_ns);
	free(c.spans);
	return TP_OK;
}
