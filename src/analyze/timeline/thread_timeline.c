/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the timeline of a thread from runs and samples.
 *
 * With context-switch records the borders between on-CPU, runnable and blocked are exact, and
 * samples only determine what a segment was. A segment without a sample takes the sample of the
 * most similar segment of the same thread: same state, similar length, nearest in time. Similar
 * length matters: long waits nearly always have a sample, short ones rarely do, so the nearest
 * sample of any length would nearly always be that of a long wait, and short waits would take its
 * class.
 *
 * Each sample represents the CPU time up to the midpoint between it and its neighbours, also across
 * a wait: a run of one and a half sampling periods has one sample in its middle or two near its
 * ends, so samples in the middle would count twice as much if they had to share the run.
 *
 * Without switch records, or while they were off, only samples are available (sampled_timeline.h).
 */
#include "thread_timeline.h"

#include "analyze/classify/stack_class.h"
#include "analyze/thresholds.h"
#include "sampled_timeline.h"
#include "segment_strata.h"
#include "segments.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>

/* The time at the head and the tail of a run that belongs to the previous and the next sample. */
struct edges {
	uint64_t head_ns;
	uint64_t tail_ns;
	uint32_t before;
	uint32_t after;
};

/* The other threads of the process that work while a thread waits: a wait for one group is not
 * similar to a wait for the other. */
enum { NO_GROUP, LOADERS, OTHERS };

struct build {
	const struct tp_trace *trace;
	const struct tp_stack_class *classes;
	struct edges *edges; /* heap: one for each run of the thread */
	const struct tp_group_runs *group_runs;
	struct tp_segments pieces;
	struct tp_strata strata;
};

static bool has_no_stack(const struct tp_trace *trace, const struct tp_segment *segment)
{
	return segment->state == TP_STATE_BLOCKED && segment->sample != TP_NO_SAMPLE &&
	       trace->samples[segment->sample].stack == 0;
}

/* Returns the group that works during a wait. The awaited thread works until the end of the wait;
 * activity that ended just after the wait began does not count. */
static int active_group_in(const struct build *build, uint64_t start_ns, uint64_t length_ns)
{
	uint64_t end_ns = start_ns + length_ns;
	uint64_t loaders_ns = tp_intervals_covered(&build->group_runs->loaders, start_ns, end_ns);
	uint64_t others_ns = tp_intervals_covered(&build->group_runs->others, start_ns, end_ns);
	uint64_t most_ns = loaders_ns > others_ns ? loaders_ns : others_ns;
	if (most_ns <= length_ns / TP_COMPANY_PARTS)
		return NO_GROUP;
	return loaders_ns > others_ns ? LOADERS : OTHERS;
}

static void add_segment(struct build *build, uint64_t start_ns, uint64_t end_ns,
			enum tp_state state, uint32_t sample)
{
	tp_segments_add(&build->pieces, build->trace, start_ns, end_ns, state, sample);
}

/* Iterates over the samples of a task in time order; moves forward only. */
struct sample_cursor {
	size_t next;
	size_t end;
};

static void skip_to(const struct tp_trace *trace, struct sample_cursor *cursor, uint64_t time_ns)
{
	while (cursor->next < cursor->end && trace->samples[cursor->next].time_ns < time_ns)
		cursor->next++;
}

/* A leaf without its callers could be assigned to a wrong phase. Samples are thinned out at random,
 * so omitting them causes no bias. */
static bool is_usable(const struct tp_sample *sample)
{
	return sample->state == TP_STATE_ON_CPU && !(sample->flags & TP_SAMPLE_LEAF_ONLY);
}

/* Returns the next usable sample before the end of the run; TP_NO_SAMPLE if there is none. */
static uint32_t next_in_run(const struct tp_trace *trace, struct sample_cursor *cursor,
			    const struct tp_run *run)
{
	skip_to(trace, cursor, run->start_ns);
	while (cursor->next < cursor->end && trace->samples[cursor->next].time_ns < run->end_ns) {
		uint32_t at = (uint32_t)cursor->next++;
		if (is_usable(&trace->samples[at]))
			return at;
	}
	return TP_NO_SAMPLE;
}

/* The border between the last sample of one run and the first one of the next is the midpoint of
 * the CPU time between them. */
static void cut_between(const struct tp_trace *trace, const struct tp_run *run, uint32_t last,
			struct edges *edges, const struct tp_run *next, uint32_t first,
			struct edges *next_edges)
{
	uint64_t tail_ns = run->end_ns - trace->samples[last].time_ns;
	uint64_t head_ns = trace->samples[first].time_ns - next->start_ns;
	if (tail_ns > head_ns) {
		edges->tail_ns = (tail_ns - head_ns) / 2;
		edges->after = first;
	} else {
		next_edges->head_ns = (head_ns - tail_ns) / 2;
		next_edges->before = last;
	}
}

/* Runs shorter than a period have one sample or none, and the position of a single one is
 * random. */
static void find_edges(struct build *build, struct sample_cursor cursor, size_t first_run,
		       size_t end_run)
{
	const struct tp_trace *trace = build->trace;
	double rate_hz = trace->run.sample_rate_hz;
	size_t held_run = 0;
	uint32_t held = TP_NO_SAMPLE;
	build->edges = tp_alloc((end_run - first_run + 1) * sizeof(*build->edges));
	for (size_t i = first_run; i < end_run && rate_hz > 0; i++) {
		const struct tp_run *run = &trace->runs[i];
		uint32_t first = next_in_run(trace, &cursor, run);
		uint32_t last = first;
		for (uint32_t at = first; at != TP_NO_SAMPLE; at = next_in_run(trace, &cursor, run))
			last = at;
		if (first == TP_NO_SAMPLE || (double)(run->end_ns - run->start_ns) * rate_hz < 1e9)
			continue;
		if (held != TP_NO_SAMPLE)
			cut_between(trace, &trace->runs[held_run], held,
				    &build->edges[held_run - first_run], run, first,
				    &build->edges[i - first_run]);
		held = last;
		held_run = i;
	}
}

/* Adds a segment that uses the sample of another run. */
static void add_inferred(struct build *build, uint64_t start_ns, uint64_t end_ns, uint32_t sample)
{
	struct tp_segment *segment = tp_segments_add(&build->pieces, build->trace, start_ns, end_ns,
						     TP_STATE_ON_CPU, sample);
	if (segment)
		segment->is_inferred = true;
}

/* Adds a run on a CPU, cut at the midpoints between its samples. */
static void add_run(struct build *build, struct sample_cursor *cursor, const struct tp_run *run,
		    const struct edges *edges)
{
	const struct tp_trace *trace = build->trace;
	uint64_t start = run->start_ns + edges->head_ns;
	uint64_t end = run->end_ns - edges->tail_ns;
	uint32_t held = TP_NO_SAMPLE;
	add_inferred(build, run->start_ns, start, edges->before);
	size_t before = build->pieces.n;
	uint32_t at;
	while ((at = next_in_run(trace, cursor, run)) != TP_NO_SAMPLE) {
		if (held != TP_NO_SAMPLE) {
			uint64_t middle =
				(trace->samples[held].time_ns + trace->samples[at].time_ns) / 2;
			add_segment(build, start, middle, TP_STATE_ON_CPU, held);
			start = middle;
		}
		held = at;
	}
	add_segment(build, start, end, TP_STATE_ON_CPU, held);
	if (held != TP_NO_SAMPLE && build->pieces.n > before) {
		const struct tp_segment *segment = &build->pieces.items[before];
		struct tp_segment_key stay = {run->how == TP_RUN_PREEMPTED
						      ? TP_SEGMENT_RUN_PREEMPTED
						      : TP_SEGMENT_RUN,
					      NO_GROUP, segment->start_ns,
					      run->end_ns - run->start_ns};
		tp_strata_add(&build->strata, &stay, segment->sample);
	}
	add_inferred(build, end, run->end_ns, edges->after);
}

/* Chooses between two probes of one wait: the first may have come before the interpreter was
 * found. */
static bool is_better(const struct build *build, uint32_t held, const struct tp_sample *sample)
{
	if (held == TP_NO_SAMPLE || build->trace->samples[held].stack == 0)
		return true;
	return build->classes[sample->stack].has_python &&
	       !build->classes[build->trace->samples[held].stack].has_python;
}

/* Adds time off the CPU. After a preemption all of it is runnable; after a block it is blocked
 * until a probe found the thread runnable. */
static void add_gap(struct build *build, struct sample_cursor *cursor, uint64_t start_ns,
		    uint64_t end_ns, enum tp_run_end how)
{
	const struct tp_trace *trace = build->trace;
	if (end_ns <= start_ns)
		return;
	if (how == TP_RUN_PREEMPTED) {
		add_segment(build, start_ns, end_ns, TP_STATE_RUNNABLE, TP_NO_SAMPLE);
		return;
	}
	uint64_t woken_ns = end_ns;
	uint32_t held = TP_NO_SAMPLE;
	skip_to(trace, cursor, start_ns);
	for (; cursor->next < cursor->end; cursor->next++) {
		const struct tp_sample *sample = &trace->samples[cursor->next];
		if (sample->time_ns >= end_ns)
			break;
		if (sample->state == TP_STATE_BLOCKED && is_better(build, held, sample))
			held = (uint32_t)cursor->next;
		if (sample->state == TP_STATE_RUNNABLE && sample->time_ns < woken_ns)
			woken_ns = sample->time_ns;
	}
	size_t before = build->pieces.n;
	add_segment(build, start_ns, woken_ns, TP_STATE_BLOCKED, held);
	if (held != TP_NO_SAMPLE && build->pieces.n > before) {
		const struct tp_segment *segment = &build->pieces.items[before];
		uint64_t length_ns = end_ns - start_ns;
		struct tp_segment_key stay = {has_no_stack(trace, segment)
						      ? TP_SEGMENT_WAIT_NO_STACK
						      : TP_SEGMENT_WAIT,
					      active_group_in(build, start_ns, length_ns), start_ns,
					      length_ns};
		tp_strata_add(&build->strata, &stay, segment->sample);
	}
	add_segment(build, woken_ns, end_ns, TP_STATE_RUNNABLE, TP_NO_SAMPLE);
}

/* Returns the sample of a similar segment. In sampled time, segments without a sample were
 * short. */
static uint32_t infer_sample(const struct build *build, const struct tp_segment *segment,
			     enum tp_segment_kind kind)
{
	bool waits = kind == TP_SEGMENT_WAIT || kind == TP_SEGMENT_WAIT_NO_STACK;
	struct tp_segment_key stay = {kind, NO_GROUP, segment->start_ns,
				      segment->end_ns - segment->start_ns};
	if (segment->is_sampled)
		stay.length_ns = 1;
	if (waits && segment->is_sampled)
		stay.group = TP_ANY_SEGMENT_GROUP;
	else if (waits)
		stay.group = active_group_in(build, segment->start_ns, stay.length_ns);
	return tp_strata_find_similar(&build->strata, &stay);
}

static bool ends_preempted(const struct build *build, size_t segment)
{
	return segment + 1 < build->pieces.n &&
	       build->pieces.items[segment + 1].state == TP_STATE_RUNNABLE;
}

/* Returns true for a wait during which other threads work, if no similar wait has a sample. Threads
 * wait for each other with futexes. */
static bool waits_for_others(const struct build *build, const struct tp_segment *segment)
{
	return segment->state == TP_STATE_BLOCKED && !segment->is_sampled &&
	       active_group_in(build, segment->start_ns, segment->end_ns - segment->start_ns) ==
		       OTHERS &&
	       !tp_strata_has(&build->strata, TP_SEGMENT_WAIT, OTHERS) &&
	       !tp_strata_has(&build->strata, TP_SEGMENT_WAIT_NO_STACK, OTHERS);
}

/* A segment without a sample takes that of a similar one, or of one of the other kind if there is
 * none. */
static void infer_unseen(const struct build *build, size_t at)
{
	struct tp_segment *segment = &build->pieces.items[at];
	bool runs = segment->state == TP_STATE_ON_CPU;
	segment->is_inferred = true;
	if (waits_for_others(build, segment)) {
		segment->cause = TP_CAUSE_FUTEX;
		return;
	}
	enum tp_segment_kind ran =
		ends_preempted(build, at) ? TP_SEGMENT_RUN_PREEMPTED : TP_SEGMENT_RUN;
	enum tp_segment_kind kind = runs ? ran : TP_SEGMENT_WAIT;
	segment->sample = infer_sample(build, segment, kind);
	if (segment->sample == TP_NO_SAMPLE)
		segment->sample = infer_sample(build, segment, tp_segment_kind_other(kind));
	if (runs)
		segment->cause = TP_CAUSE_NONE;
	else if (segment->sample == TP_NO_SAMPLE)
		segment->cause = TP_CAUSE_UNKNOWN;
	else
		segment->cause = build->trace->samples[segment->sample].cause;
}

/* The cause of the wait is known. Its stack is taken from a similar wait with the same cause; that
 * of a short one from the adjacent runs. */
static void infer_stack(const struct build *build, struct tp_segment *segment)
{
	uint32_t like = infer_sample(build, segment, TP_SEGMENT_WAIT);
	if (like != TP_NO_SAMPLE && build->trace->samples[like].cause != segment->cause)
		like = TP_NO_SAMPLE;
	if (like == TP_NO_SAMPLE && segment->is_sampled)
		like = infer_sample(build, segment, TP_SEGMENT_RUN);
	if (like == TP_NO_SAMPLE)
		return;
	segment->sample = like;
	segment->is_inferred = true;
}

/* Returns true for on-CPU time that the sampling timer missed, with no wait nearby that provides a
 * stack. */
static bool is_missed(const struct build *build, const struct tp_segment *segment)
{
	return segment->is_sampled && segment->is_inferred && segment->state == TP_STATE_ON_CPU &&
	       build->trace->samples[segment->sample].state == TP_STATE_ON_CPU;
}

static void infer_missed(const struct build *build, struct tp_segment *segment)
{
	uint32_t like = infer_sample(build, segment, TP_SEGMENT_RUN);
	if (like != TP_NO_SAMPLE)
		segment->sample = like;
}

static void infer_segments(struct build *build)
{
	for (size_t i = 0; i < build->pieces.n; i++) {
		struct tp_segment *segment = &build->pieces.items[i];
		if (has_no_stack(build->trace, segment))
			infer_stack(build, segment);
		else if (segment->sample != TP_NO_SAMPLE && is_missed(build, segment))
			infer_missed(build, segment);
		else if (segment->sample == TP_NO_SAMPLE && segment->state != TP_STATE_RUNNABLE)
			infer_unseen(build, i);
	}
}

static uint64_t task_end(const struct tp_trace *trace, const struct tp_task *task)
{
	uint64_t end = task->end_ns ? task->end_ns : trace->end_ns;
	return end < trace->end_ns || !trace->end_ns ? end : trace->end_ns;
}

static bool has_sample(const struct tp_trace *trace, struct sample_cursor cursor, uint64_t from_ns,
		       uint64_t to_ns)
{
	skip_to(trace, &cursor, from_ns);
	return cursor.next < cursor.end && trace->samples[cursor.next].time_ns < to_ns;
}

static void add_sampled(struct build *build, struct sample_cursor *cursor, uint32_t task,
			uint64_t from_ns, uint64_t until_ns)
{
	cursor->next = tp_sampled_timeline_add(&build->pieces, build->trace, task, cursor->next,
					       from_ns, until_ns);
}

/* Adds the time between two runs. */
static void add_between(struct build *build, struct sample_cursor *cursor, uint32_t task,
			uint64_t from_ns, uint64_t to_ns, enum tp_run_end how)
{
	if (how == TP_RUN_OPEN && has_sample(build->trace, *cursor, from_ns, to_ns))
		add_sampled(build, cursor, task, from_ns, to_ns);
	else
		add_gap(build, cursor, from_ns, to_ns, how);
}

/*
 * Returns how to interpret the time before the first run of a thread. A thread that was created
 * during the recording waits for its first turn. An existing thread that trainprof attached to may
 * wait for anything: it is blocked if /proc reports that, otherwise the reason is unknown. Probes
 * that find a thread on a CPU are only recorded while no other source is active, so in that case
 * its first runs were missed.
 */
static enum tp_run_end how_before_first_run(const struct tp_trace *trace,
					    const struct tp_task *task, struct sample_cursor cursor,
					    uint64_t first_run_ns)
{
	bool is_attached = trace->run.mode == TP_MODE_ATTACH && task->start_ns == 0;
	enum tp_run_end how = is_attached ? TP_RUN_BLOCKED : TP_RUN_PREEMPTED;
	for (; cursor.next < cursor.end; cursor.next++) {
		const struct tp_sample *sample = &trace->samples[cursor.next];
		if (sample->time_ns >= first_run_ns)
			break;
		if (sample->state == TP_STATE_ON_CPU && (sample->flags & TP_SAMPLE_POLLED))
			return TP_RUN_OPEN;
		if (sample->state == TP_STATE_BLOCKED)
			how = TP_RUN_BLOCKED;
	}
	return how;
}

static void build_from_runs(struct build *build, const struct tp_task *task, uint64_t until_ns)
{
	const struct tp_trace *trace = build->trace;
	struct sample_cursor cursor = {trace->sample_index[task->id],
				       trace->sample_index[task->id + 1]};
	uint64_t at = task->start_ns;
	size_t first = trace->run_index[task->id];
	size_t end = trace->run_index[task->id + 1];
	enum tp_run_end how =
		how_before_first_run(trace, task, cursor, trace->runs[first].start_ns);
	find_edges(build, cursor, first, end);
	for (size_t i = first; i < end; i++) {
		const struct tp_run *run = &trace->runs[i];
		add_between(build, &cursor, task->id, at, run->start_ns, how);
		add_run(build, &cursor, run, &build->edges[i - first]);
		at = run->end_ns;
		how = run->how;
	}
	if (how != TP_RUN_EXITED)
		add_between(build, &cursor, task->id, at, until_ns, how);
	infer_segments(build);
	free(build->edges);
}

static void build_from_samples(struct build *build, const struct tp_task *task, uint64_t until_ns)
{
	const struct tp_trace *trace = build->trace;
	struct sample_cursor cursor = {trace->sample_index[task->id],
				       trace->sample_index[task->id + 1]};
	add_sampled(build, &cursor, task->id, task->start_ns, until_ns);
}

/* Returns the end of the last import. While a thread imports modules it does nothing that it does
 * later: training usually begins after the last import. */
static uint64_t imports_end_ns(const struct tp_analysis *analysis, uint32_t task)
{
	const struct tp_trace *trace = analysis->trace;
	for (size_t i = trace->sample_index[task + 1]; i-- > trace->sample_index[task];)
		if (analysis->classes[trace->samples[i].stack].phase == TP_PHASE_IMPORT)
			return trace->samples[i].time_ns;
	return 0;
}

void tp_thread_timeline_build(struct tp_timeline *out, const struct tp_analysis *analysis,
			      uint32_t id, const struct tp_group_runs *group_runs)
{
	const struct tp_trace *trace = analysis->trace;
	const struct tp_task *task = &trace->tasks[id];
	struct build build = {.trace = trace,
			      .classes = analysis->classes,
			      .group_runs = group_runs};
	build.strata.border_ns = imports_end_ns(analysis, id);
	if (trace->run_index[id] < trace->run_index[id + 1])
		build_from_runs(&build, task, task_end(trace, task));
	else
		build_from_samples(&build, task, task_end(trace, task));
	out->n = build.pieces.n;
	out->segments = tp_arena_copy(analysis->arena, build.pieces.items,
				      build.pieces.n * sizeof(*build.pieces.items));
	free(build.pieces.items);
	tp_strata_release(&build.strata);
}
