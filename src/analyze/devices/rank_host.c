/* SPDX-License-Identifier: Apache-2.0 */
/* Labels the main thread of a rank by its samples and switches
 * (docs/design/ranks.md#parts-of-imported-traces). */
#include "rank_host.h"
#include "rank_names.h"

#include "analyze/attribution/label.h"
#include "analyze/numeric/stats.h"
#include "rank_data.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>

struct labelling {
	struct tp_rank_analysis *analysis;
	const struct tp_rank_work *rank;
	const struct tp_analysis *threads;
	struct tp_rank_host *host;
	uint32_t track;       /* track of the main thread */
	size_t call;          /* index of the next operating system call to check */
	enum tp_phase before; /* protecting phase when the thread last had its CPU; else NONE */
};

/* ---- labels -------------------------------------------------------------------------------- */

/* If there is a device, the main thread's own computation is host work, not the training. Other
 * labels stay as on a live recording. */
static enum tp_label label_with_device(enum tp_label label, const struct tp_stack_class *class)
{
	if (tp_label_part(label) != TP_PART_COMPUTE)
		return label;
	return class->leaf == TP_LEAF_NONE && class->owner == TP_LEAF_INTERPRETER
		       ? TP_LABEL_HOST_INTERPRETER
		       : TP_LABEL_HOST_OTHER;
}

static enum tp_label on_cpu_label(const struct labelling *l, const struct tp_stack_class *class)
{
	enum tp_label label = tp_label_of_phase(class->phase, class->leaf);
	if (label != TP_N_LABELS)
		return label;
	bool is_interpreted = class->has_python || class->owner == TP_LEAF_INTERPRETER;
	label = tp_label_of_leaf(class, is_interpreted);
	return l->rank->has_device ? label_with_device(label, class) : label;
}

/* Label while blocked inside a phase that owns its time; TP_N_LABELS if it owns none. */
static enum tp_label off_cpu_label(enum tp_phase phase)
{
	if (phase == TP_PHASE_DATALOADER)
		return TP_LABEL_DATALOADER_NEXT;
	if (phase == TP_PHASE_COMMUNICATION)
		return TP_LABEL_COMMUNICATION_WAIT;
	return tp_label_of_phase(phase, TP_LEAF_NONE);
}

/* A runnable thread remains in its phase if that owns its time: a loader then waits for a CPU. */
static enum tp_label runnable_label(enum tp_phase phase)
{
	if (phase == TP_PHASE_DATALOADER)
		return TP_LABEL_DATALOADER_QUEUE;
	enum tp_label label = off_cpu_label(phase);
	return label == TP_N_LABELS ? TP_LABEL_IDLE_RUNNABLE : label;
}

/* Returns the operating system call of the thread at that time; NULL if none. Calls are sorted by
 * start, and times must be passed in ascending order. */
static const struct tp_span *call_at(struct labelling *l, uint64_t time_ns)
{
	const struct tp_track_spans *spans = &l->analysis->trace->spans[l->track];
	const struct tp_span *found = NULL;
	while (l->call < spans->n && (spans->items[l->call].kind != TP_SPAN_OS_CALL ||
				      spans->items[l->call].end_ns <= time_ns))
		l->call++;
	if (l->call < spans->n && spans->items[l->call].start_ns <= time_ns)
		found = &spans->items[l->call];
	return found;
}

static enum tp_label call_label(struct labelling *l, const struct tp_span *call)
{
	switch (tp_rank_sense(l->analysis, call)) {
	case TP_SENSE_SLEEP:
		return TP_LABEL_IDLE_SLEEP;
	case TP_SENSE_IO:
		return TP_LABEL_IDLE_IO;
	case TP_SENSE_LOCK:
		return TP_LABEL_IDLE_LOCK;
	case TP_SENSE_CHILD:
		return TP_LABEL_IDLE_CHILD;
	case TP_SENSE_PEER:
		return TP_LABEL_IDLE_PEER;
	default:
		return TP_LABEL_IDLE_UNKNOWN;
	}
}

/* The stack of a lock operation does not show whether it waits for a held lock or for a
 * condition. */
static enum tp_label leaf_label(enum tp_leaf leaf)
{
	switch (leaf) {
	case TP_LEAF_READ:
	case TP_LEAF_OPEN:
	case TP_LEAF_WRITE:
		return TP_LABEL_IDLE_IO;
	case TP_LEAF_NET:
	case TP_LEAF_LOCK:
	case TP_LEAF_PICKLE:
		return TP_LABEL_IDLE_PEER;
	default:
		return TP_LABEL_IDLE_UNKNOWN;
	}
}

/* The stack of a sample taken in this wait may be in a phase; otherwise the enclosing operating
 * system call is the best evidence. */
static enum tp_label blocked_label(struct labelling *l, const struct tp_stack_class *class,
				   uint64_t start_ns, uint64_t end_ns)
{
	enum tp_label label = TP_N_LABELS;
	if (tp_phase_owns_time(class->phase))
		label = off_cpu_label(class->phase);
	if (label != TP_N_LABELS)
		return label;
	/* A call begins just before the thread leaves its CPU, and ends just after. */
	const struct tp_span *call = call_at(l, start_ns + (end_ns - start_ns) / 2);
	label = call ? call_label(l, call) : TP_LABEL_IDLE_UNKNOWN;
	return label == TP_LABEL_IDLE_UNKNOWN ? leaf_label(class->leaf) : label;
}

/* ---- segments ------------------------------------------------------------------------------ */

static const struct tp_stack_class *class_of(const struct labelling *l, uint32_t sample,
					     uint32_t *stack)
{
	static const struct tp_stack_class nothing;
	*stack = sample == TP_NO_SAMPLE ? 0 : l->analysis->trace->samples[sample].stack;
	return *stack ? &l->threads->classes[*stack] : &nothing;
}

static void emit_segment(struct labelling *l, uint64_t start_ns, uint64_t end_ns,
			 enum tp_state state, enum tp_label label, uint32_t stack)
{
	TP_ARRAY_PUSH(l->host->pieces, l->host->n, l->host->capacity) =
		(struct tp_host_segment){start_ns, end_ns, label, state, stack};
	tp_intervals_add(&l->host->known, start_ns, end_ns);
}

static void add_segment(struct labelling *l, uint64_t start_ns, uint64_t end_ns,
			enum tp_state state, uint32_t sample)
{
	uint32_t stack;
	enum tp_label label;
	const struct tp_stack_class *class = class_of(l, sample, &stack);
	if (end_ns <= start_ns)
		return;
	if (state == TP_STATE_ON_CPU) {
		/* On a CPU without a stack: the work is unknown. */
		label = stack ? on_cpu_label(l, class) : TP_LABEL_HOST_OTHER;
		l->before = tp_phase_owns_time(class->phase) ? class->phase : TP_PHASE_NONE;
	} else if (state == TP_STATE_RUNNABLE) {
		label = runnable_label(l->before);
	} else {
		label = blocked_label(l, class, start_ns, end_ns);
	}
	emit_segment(l, start_ns, end_ns, state, label, stack);
}

/* With switches the timeline is exact. A stack that was inferred from another wait is ignored. */
static void segments_from_switches(struct labelling *l, uint32_t task)
{
	const struct tp_timeline *timeline = &l->threads->timelines[task];
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		bool is_foreign = segment->is_inferred && segment->state == TP_STATE_BLOCKED;
		add_segment(l, segment->start_ns, segment->end_ns, segment->state,
			    is_foreign ? TP_NO_SAMPLE : segment->sample);
	}
}

/* Median time between two samples; 0 with fewer than three samples. */
static uint64_t sampling_period(const struct tp_sample *samples, size_t n)
{
	if (n < 3)
		return 0;
	double *gaps = tp_alloc((n - 1) * sizeof(*gaps));
	for (size_t i = 1; i < n; i++)
		gaps[i - 1] = (double)(samples[i].time_ns - samples[i - 1].time_ns);
	double median = tp_stats_median(gaps, n - 1);
	free(gaps);
	return (uint64_t)median;
}

/* Without switches an operating system call that may wait counts as a wait: tools record such calls
 * for that purpose and omit short ones. Adds those inside [from, to). */
static void calls_add(struct labelling *l, uint64_t from_ns, uint64_t to_ns)
{
	const struct tp_track_spans *spans = &l->analysis->trace->spans[l->track];
	if (from_ns >= to_ns)
		return;
	for (; l->call < spans->n && spans->items[l->call].start_ns < to_ns; l->call++) {
		const struct tp_span *call = &spans->items[l->call];
		uint64_t start = call->start_ns > from_ns ? call->start_ns : from_ns;
		uint64_t end = call->end_ns < to_ns ? call->end_ns : to_ns;
		if (call->kind != TP_SPAN_OS_CALL)
			continue;
		if (end <= start || call_label(l, call) == TP_LABEL_IDLE_UNKNOWN)
			continue;
		emit_segment(l, start, end, TP_STATE_BLOCKED, call_label(l, call), 0);
		from_ns = end;
		if (call->end_ns > to_ns)
			break; /* it continues after to_ns */
	}
}

/* Without switches each sample represents the time around it, at most half a period to each side: a
 * thread off its CPU is not sampled. */
static void segments_from_samples(struct labelling *l, const struct tp_sample *samples, size_t n,
				  size_t first)
{
	const struct tp_trace *trace = l->analysis->trace;
	uint64_t reach_ns = sampling_period(samples, n) / 2;
	uint64_t from_ns = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t at = samples[i].time_ns;
		uint64_t start = at > reach_ns + from_ns ? at - reach_ns : from_ns;
		uint64_t end = at + reach_ns;
		if (i + 1 < n && end > at + (samples[i + 1].time_ns - at) / 2)
			end = at + (samples[i + 1].time_ns - at) / 2;
		if (end > trace->end_ns)
			end = trace->end_ns;
		calls_add(l, from_ns, start);
		add_segment(l, start, end, samples[i].state, (uint32_t)(first + i));
		from_ns = end > from_ns ? end : from_ns;
	}
	calls_add(l, from_ns, UINT64_MAX);
}

/* ---- a rank -------------------------------------------------------------------------------- */

static bool has_states(const struct tp_trace *trace, uint32_t task)
{
	for (size_t i = trace->run_index[task]; i < trace->run_index[task + 1]; i++)
		if (trace->runs[i].how == TP_RUN_BLOCKED || trace->runs[i].how == TP_RUN_PREEMPTED)
			return true;
	return false;
}

/* Calls of any thread show that the tool was set to record them. */
static bool has_os_calls(const struct tp_trace *trace, const struct tp_rank_work *rank)
{
	for (size_t i = 0; i < rank->n_threads; i++) {
		const struct tp_track_spans *spans = &trace->spans[rank->threads[i]];
		for (size_t k = 0; k < spans->n; k++)
			if (spans->items[k].kind == TP_SPAN_OS_CALL)
				return true;
	}
	return false;
}

/* The training thread; without spans of threads the first thread of the process. */
static uint32_t main_track(const struct tp_trace *trace, const struct tp_rank_work *rank,
			   uint32_t number)
{
	if (rank->main != TP_NO_TASK)
		return rank->main;
	for (uint32_t i = 0; i < trace->n_tracks; i++) {
		const struct tp_track *track = &trace->tracks[i];
		if (track->rank != number || !track->task_plus_1)
			continue;
		const struct tp_task *task = &trace->tasks[track->task_plus_1 - 1];
		if (task->tid == task->pid)
			return i;
	}
	return TP_NO_TASK;
}

static void segments_of_task(struct labelling *l, uint32_t task)
{
	const struct tp_trace *trace = l->analysis->trace;
	size_t first = trace->sample_index[task];
	size_t n = trace->sample_index[task + 1] - first;
	l->host->leader = l->threads->threads[task].leader;
	l->host->has_samples = n > 0;
	l->host->has_switches = has_states(trace, task);
	if (trace->run_index[task] < trace->run_index[task + 1])
		segments_from_switches(l, task);
	else
		segments_from_samples(l, &trace->samples[first], n, first);
}

void tp_rank_host_build(struct tp_rank_analysis *analysis, uint32_t number,
			const struct tp_analysis *threads)
{
	const struct tp_trace *trace = analysis->trace;
	struct tp_rank_work *rank = &analysis->ranks[number];
	struct labelling l = {.analysis = analysis,
			      .rank = rank,
			      .threads = threads,
			      .host = &rank->host};
	l.track = main_track(trace, rank, number);
	if (l.track == TP_NO_TASK)
		return;
	rank->host.has_os_calls = has_os_calls(trace, rank);
	if (trace->tracks[l.track].task_plus_1)
		segments_of_task(&l, trace->tracks[l.track].task_plus_1 - 1);
	else
		calls_add(&l, 0, UINT64_MAX);
}

void tp_rank_host_use_labels(struct tp_rank_analysis *analysis, uint32_t number,
			     const struct tp_analysis *threads)
{
	uint32_t task = threads->main_task;
	struct tp_rank_host *host = &analysis->ranks[number].host;
	struct labelling l = {.analysis = analysis,
			      .rank = &analysis->ranks[number],
			      .threads = threads,
			      .host = host};
	const struct tp_trace *trace = analysis->trace;
	const struct tp_timeline *timeline = &threads->timelines[task];
	host->leader = threads->threads[task].leader;
	host->has_samples = trace->sample_index[task + 1] > trace->sample_index[task];
	host->has_switches = has_states(trace, task);
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *piece = &timeline->segments[i];
		uint32_t stack;
		const struct tp_stack_class *class = class_of(&l, piece->sample, &stack);
		enum tp_label label = label_with_device(piece->label, class);
		emit_segment(&l, piece->start_ns, piece->end_ns, piece->state, label, stack);
		if (tp_label_part(label) == TP_PART_DATALOADER)
			tp_intervals_add(&host->loads, piece->start_ns, piece->end_ns);
	}
}

void tp_rank_host_release(struct tp_rank_host *host)
{
	free(host->pieces);
	free(host->loads.items);
	free(host->known.items);
	*host = (struct tp_rank_host){0};
}

const struct tp_host_segment *tp_rank_host_at(const struct tp_rank_host *host, size_t *cursor,
					      uint64_t time_ns)
{
	while (*cursor < host->n && host->pieces[*cursor].end_ns <= time_ns)
		++*cursor;
	return *cursor < host->n ? &host->pieces[*cursor] : NULL;
}
