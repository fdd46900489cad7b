/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assigns one label to every instant of the main thread.
 *
 * Rules, in order (docs/design/waits.md#parts): a protecting phase (dataloader, communication,
 * checkpoint, logging) owns the instant whatever the thread does in it; otherwise the innermost
 * frame decides; waits are transparent: while the main thread is blocked on its own workers it gets
 * the label of what the workers do at that instant.
 */
#include "analyze/analysis.h"
#include "analyze/classify/frame_class.h"
#include "analyze/thresholds.h"
#include "label.h"
#include "page_fault_share.h"
#include "phase_marks.h"
#include "preemption.h"
#include "wait_attribution.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"

#include <stdlib.h>

struct main_thread {
	struct tp_analysis *analysis;
	struct tp_wait_attribution waiting;
	struct tp_phase_marks marked; /* phases that the program marks itself */
	struct tp_preemption lostcpu;
	bool is_interpreted;
	enum tp_part before;               /* part of the last label, if that was a wait */
	uint64_t since_wait_ns;            /* CPU time since it was last blocked */
	struct tp_page_fault_share faults; /* if the kernel could not be sampled */
	struct tp_segment *out;            /* heap */
	size_t n_out;
	size_t out_capacity;
};

/* ---- on a CPU ----------------------------------------------------------------------------- */

static enum tp_label on_cpu_label(const struct main_thread *fg, const struct tp_stack_class *class,
				  enum tp_phase phase)
{
	enum tp_label label = tp_label_of_phase(phase, class->leaf);
	if (label != TP_N_LABELS)
		return label;
	/* Alternating with its own team and waking it is multi-threaded computing. */
	bool is_of_team =
		class->is_team_root || (fg->waiting.team.activities.n && !fg->is_interpreted);
	if (class->leaf == TP_LEAF_LOCK && is_of_team)
		return TP_LABEL_COMPUTE_SPIN;
	/* Sockets to loader processes carry data; if other ranks exist, gradients. */
	const struct tp_wait_attribution *waiting = &fg->waiting;
	if (class->leaf == TP_LEAF_NET && waiting->has_loader_processes && !waiting->has_peers)
		return TP_LABEL_DATALOADER_HANDOVER;
	return tp_label_of_leaf(class, fg->is_interpreted);
}

/* ---- output ------------------------------------------------------------------------------- */

static void emit(void *context, const struct tp_segment *segment, uint64_t start_ns,
		 uint64_t end_ns, enum tp_label label)
{
	struct main_thread *fg = context;
	if (end_ns <= start_ns)
		return;
	struct tp_segment out = *segment;
	out.start_ns = start_ns;
	out.end_ns = end_ns;
	out.label = label;
	TP_ARRAY_PUSH(fg->out, fg->n_out, fg->out_capacity) = out;
}

/* On a CPU: the end of the segment is page faults, as much as the count implies, because time
 * inside the kernel left no sample. */
static void emit_on_cpu(struct main_thread *fg, const struct tp_segment *segment,
			enum tp_label label)
{
	enum tp_part part = tp_label_part(label);
	double share = 0;
	if (part == TP_PART_COMPUTE || part == TP_PART_MEMORY || label == TP_LABEL_HOST_INTERPRETER)
		share = tp_page_fault_share_at(&fg->faults, segment->start_ns);
	uint64_t faults_ns = (uint64_t)(share * (double)(segment->end_ns - segment->start_ns));
	emit(fg, segment, segment->start_ns, segment->end_ns - faults_ns, label);
	emit(fg, segment, segment->end_ns - faults_ns, segment->end_ns, TP_LABEL_MEMORY_FAULT);
}

/* True for the first few microseconds on a CPU after a wait: the thread reacquires a lock, wakes
 * others, and these take its CPU. No sample hit that time, and the similar segment that stands for
 * it was sampled elsewhere. */
static bool is_waking_up(struct main_thread *fg, const struct tp_segment *segment)
{
	if (segment->state == TP_STATE_BLOCKED)
		fg->since_wait_ns = 0;
	if (segment->state != TP_STATE_ON_CPU)
		return false;
	fg->since_wait_ns += segment->end_ns - segment->start_ns;
	return segment->is_inferred && fg->since_wait_ns < TP_WAKING_NS;
}

/* Labels one segment that lies wholly inside or outside the program's own phases. */
static void label_segment(struct main_thread *fg, const struct tp_segment *segment,
			  enum tp_phase marked, const struct tp_stack_class *class,
			  enum tp_phase phase)
{
	if (marked && (tp_phase_owns_time(marked) || !tp_phase_owns_time(phase)))
		phase = marked;
	struct tp_wait wait;
	bool is_off = segment->state != TP_STATE_ON_CPU;
	if (is_off)
		wait = tp_wait_attribution_find(&fg->waiting, segment, class, phase, fg->before);
	if (is_off || tp_wait_attribution_find_spin(&fg->waiting, segment, class, phase, &wait))
		tp_wait_cut(&wait, segment, emit, fg);
	else
		emit_on_cpu(fg, segment, on_cpu_label(fg, class, phase));
	bool exchanges = class->leaf == TP_LEAF_NET ||
			 (class->leaf == TP_LEAF_READ && fg->waiting.has_loader_processes);
	if (is_waking_up(fg, segment))
		return;
	fg->before = TP_N_PARTS;
	if (fg->n_out && (is_off || class->leaf == TP_LEAF_SPIN || exchanges))
		fg->before = tp_label_part(fg->out[fg->n_out - 1].label);
}

/* Labels one part of a segment, inside one marked phase or outside of all. If the segment's sample
 * was taken in another phase, a sample that was taken in this phase represents the part. */
static void label_part(struct main_thread *fg, const struct tp_segment *part, enum tp_phase marked,
		       const struct tp_stack_class *class, enum tp_phase phase)
{
	static const struct tp_stack_class nothing = {0};
	const struct tp_trace *trace = fg->analysis->trace;
	bool is_elsewhere =
		fg->marked.n && part->state == TP_STATE_ON_CPU && part->sample != TP_NO_SAMPLE &&
		tp_phase_marks_at(&fg->marked, trace->samples[part->sample].time_ns) != marked;
	if (!is_elsewhere) {
		label_segment(fg, part, marked, class, phase);
		return;
	}
	struct tp_segment own = *part;
	own.sample = tp_phase_marks_sample(&fg->marked, trace, marked, part->start_ns);
	own.is_inferred = true;
	class = &nothing;
	if (own.sample != TP_NO_SAMPLE)
		class = &fg->analysis->classes[trace->samples[own.sample].stack];
	label_segment(fg, &own, marked, class, class->phase);
}

/* Cuts a segment at the borders of marked phases and labels each part. */
static void label_with_marks(struct main_thread *fg, const struct tp_segment *segment,
			     size_t *cursor, const struct tp_stack_class *class,
			     enum tp_phase phase)
{
	struct tp_segment part = *segment;
	const struct tp_phase_marks *marked = &fg->marked;
	while (*cursor < marked->n && marked->items[*cursor].end_ns <= segment->start_ns)
		(*cursor)++;
	for (size_t i = *cursor; i < marked->n; i++) {
		const struct tp_phase_mark *mark = &marked->items[i];
		if (mark->start_ns >= segment->end_ns)
			break;
		if (mark->start_ns > part.start_ns) {
			part.end_ns = mark->start_ns;
			label_part(fg, &part, TP_PHASE_NONE, class, phase);
			part.start_ns = mark->start_ns;
		}
		part.end_ns = mark->end_ns < segment->end_ns ? mark->end_ns : segment->end_ns;
		label_part(fg, &part, mark->phase, class, phase);
		part.start_ns = part.end_ns;
	}
	part.end_ns = segment->end_ns;
	if (part.end_ns > part.start_ns)
		label_part(fg, &part, TP_PHASE_NONE, class, phase);
}

/* Returns true if the stack has Python frames. If Python could not be read it has only native
 * ones. */
static bool is_python_known(const struct tp_analysis *analysis, const struct tp_segment *segment)
{
	return segment->sample != TP_NO_SAMPLE &&
	       analysis->classes[analysis->trace->samples[segment->sample].stack].has_python;
}

/* The phase of a runnable thread is that of its preemption. A thread whose Python frames could not
 * be read this time remains in its phase, if the next stack with Python frames is in that phase
 * too. */
static enum tp_phase phase_of(const struct main_thread *fg, const struct tp_timeline *timeline,
			      size_t at, const struct tp_stack_class *class, enum tp_phase before)
{
	enum { MAX_SEARCH = 16 };
	const struct tp_analysis *analysis = fg->analysis;
	if (timeline->segments[at].state == TP_STATE_RUNNABLE)
		return tp_preemption_phase(&fg->lostcpu, at, before);
	if (!before || tp_phase_owns_time(class->phase) ||
	    is_python_known(analysis, &timeline->segments[at]))
		return class->phase;
	for (size_t i = at + 1; i < timeline->n && i < at + MAX_SEARCH; i++) {
		if (!is_python_known(analysis, &timeline->segments[i]))
			continue;
		uint32_t stack = analysis->trace->samples[timeline->segments[i].sample].stack;
		return analysis->classes[stack].phase == before ? before : class->phase;
	}
	return class->phase;
}

static void label_all(struct main_thread *fg)
{
	const struct tp_analysis *analysis = fg->analysis;
	const struct tp_timeline *timeline = tp_analysis_timeline(analysis, analysis->main_task);
	enum tp_phase before = TP_PHASE_NONE;
	size_t cursor = 0;
	static const struct tp_stack_class nothing = {0};
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		const struct tp_stack_class *class = &nothing;
		if (segment->sample != TP_NO_SAMPLE)
			class = &analysis->classes[analysis->trace->samples[segment->sample].stack];
		enum tp_phase phase = phase_of(fg, timeline, i, class, before);
		label_with_marks(fg, segment, &cursor, class, phase);
		before = phase;
	}
}

enum tp_status tp_pass_main_thread(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	if (analysis->main_task == TP_NO_TASK)
		return TP_OK;
	struct main_thread fg = {.analysis = analysis, .before = TP_N_PARTS};
	tp_wait_attribution_build(&fg.waiting, analysis);
	const struct tp_trace *trace = analysis->trace;
	const char *exe = tp_trace_string(trace, trace->tasks[analysis->profile->trainer].exe);
	fg.is_interpreted = tp_patterns_is_interpreter(analysis->patterns, exe);
	tp_phase_marks_build(&fg.marked, analysis);
	tp_page_fault_share_build(&fg.faults, analysis, analysis->main_task);
	struct tp_timeline *timeline = &analysis->timelines[analysis->main_task];
	tp_preemption_build(&fg.lostcpu, analysis, timeline, fg.is_interpreted);
	label_all(&fg);
	tp_preemption_release(&fg.lostcpu);
	timeline->n = fg.n_out;
	timeline->segments = tp_arena_copy(analysis->arena, fg.out, fg.n_out * sizeof(*fg.out));
	free(fg.out);
	return TP_OK;
}
