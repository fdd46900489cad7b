/* SPDX-License-Identifier: Apache-2.0 */
/* Enforces the guarantees of a trace. */
#include "trainprof/model/trace_check.h"

#include "trainprof/base/memory.h"

#include <math.h>
#include <stdlib.h>

/* ---- one record: checks if it can be kept, after repairs if these are possible ------------ */

static bool is_time(uint64_t time_ns)
{
	return time_ns <= TP_TRACE_NS_MAX;
}

static bool is_interval(uint64_t start_ns, uint64_t end_ns)
{
	return start_ns <= end_ns && is_time(end_ns);
}

static uint32_t string_or_none(const struct tp_trace *trace, uint32_t id)
{
	return id < trace->n_strings ? id : 0;
}

static bool is_task_or_none(const struct tp_trace *trace, uint32_t task)
{
	return task < trace->n_tasks || task == TP_NO_TASK;
}

static uint32_t cpu_or_first(uint32_t cpu)
{
	return cpu < TP_TRACE_CPUS_MAX ? cpu : 0;
}

static bool check_run(const struct tp_trace *trace, struct tp_run *run)
{
	run->cpu = cpu_or_first(run->cpu);
	if ((unsigned)run->how >= TP_N_RUN_ENDS)
		run->how = TP_RUN_OPEN;
	return run->task < trace->n_tasks && is_interval(run->start_ns, run->end_ns);
}

static bool check_sample(const struct tp_trace *trace, struct tp_sample *sample)
{
	sample->cpu = cpu_or_first(sample->cpu);
	sample->target = string_or_none(trace, sample->target);
	sample->stack = sample->stack < trace->n_stacks ? sample->stack : 0;
	return sample->task < trace->n_tasks && is_time(sample->time_ns) &&
	       (unsigned)sample->state < TP_N_STATES && (unsigned)sample->cause < TP_N_CAUSES;
}

/* Division by such a number would give infinity. */
static double zero_if_small(double value)
{
	return fabs(value) < 1 / TP_TRACE_VALUE_MAX ? 0 : value;
}

static bool check_gauge(const struct tp_trace *trace, struct tp_gauge *gauge)
{
	gauge->value = zero_if_small(gauge->value);
	if ((unsigned)gauge->metric >= TP_N_METRICS || !is_time(gauge->time_ns) ||
	    !(fabs(gauge->value) <= TP_TRACE_VALUE_MAX))
		return false;
	const struct tp_metric_desc *desc = tp_metric_desc(gauge->metric);
	bool is_known = desc->subject == TP_METRIC_OF_DEVICE ? gauge->task < trace->n_tracks
							     : is_task_or_none(trace, gauge->task);
	return is_known && (desc->kind != TP_METRIC_KIND_COUNTER || gauge->value >= 0);
}

static bool check_mark(const struct tp_trace *trace, struct tp_mark *mark)
{
	mark->name = string_or_none(trace, mark->name);
	return (unsigned)mark->kind < TP_N_MARK_KINDS && is_task_or_none(trace, mark->task) &&
	       is_time(mark->time_ns);
}

static bool check_gap(const struct tp_trace *trace, struct tp_gap *gap)
{
	gap->source = string_or_none(trace, gap->source);
	gap->reason = string_or_none(trace, gap->reason);
	/* A gap without an end lasts until the run ends. */
	return is_interval(gap->start_ns,
			   gap->end_ns == UINT64_MAX ? TP_TRACE_NS_MAX : gap->end_ns);
}

static bool check_source(const struct tp_trace *trace, struct tp_source *source)
{
	source->name = string_or_none(trace, source->name);
	source->summary = string_or_none(trace, source->summary);
	source->reason = string_or_none(trace, source->reason);
	source->remedy = string_or_none(trace, source->remedy);
	return (unsigned)source->presence < TP_N_PRESENCES;
}

static bool check_span(const struct tp_trace *trace, struct tp_span *span)
{
	span->name = string_or_none(trace, span->name);
	span->detail = span->detail < trace->n_details ? span->detail : 0;
	return span->track < trace->n_tracks && span->kind < TP_N_SPAN_KINDS &&
	       tp_span_kind_is_device(span->kind) ==
		       (trace->tracks[span->track].device != TP_TRACK_THREAD) &&
	       is_interval(span->start_ns, span->end_ns);
}

/* ---- tables -------------------------------------------------------------------------------- */

static void check_frames(struct tp_trace *trace)
{
	for (size_t i = 0; i < trace->n_frames; i++) {
		struct tp_frame *frame = &trace->frames[i];
		frame->module = string_or_none(trace, frame->module);
		frame->symbol = string_or_none(trace, frame->symbol);
		frame->file = string_or_none(trace, frame->file);
		if ((unsigned)frame->kind >= TP_N_FRAME_KINDS)
			frame->kind = TP_FRAME_NATIVE;
	}
}

/* The sink that created a stack has checked its frames: a stack with an unknown frame becomes
 * empty. */
static void check_stacks(struct tp_trace *trace)
{
	for (size_t i = 0; i < trace->n_stacks; i++) {
		struct tp_stack *stack = &trace->stacks[i];
		bool is_known = stack->n_frames <= TP_STACK_MAX_FRAMES;
		for (uint32_t k = 0; is_known && k < stack->n_frames; k++)
			is_known = stack->frames[k] < trace->n_frames;
		if (!is_known)
			stack->n_frames = 0;
	}
}

static void check_details(struct tp_trace *trace)
{
	for (size_t i = 0; i < trace->n_details; i++) {
		struct tp_detail *detail = &trace->details[i];
		detail->op = string_or_none(trace, detail->op);
		detail->type = string_or_none(trace, detail->type);
		detail->group = string_or_none(trace, detail->group);
	}
}

/* A task that is its own ancestor loses its parent. Each task is walked once. */
static void cut_loops(struct tp_trace *trace)
{
	uint32_t *walked = tp_alloc((trace->n_tasks + 1) * sizeof(*walked));
	for (uint32_t i = 0; i < trace->n_tasks; i++) {
		uint32_t at = i;
		while (at != TP_NO_TASK && !walked[at]) {
			walked[at] = i + 1;
			uint32_t parent = trace->tasks[at].parent;
			if (parent != TP_NO_TASK && walked[parent] == i + 1) {
				trace->tasks[at].parent = TP_NO_TASK;
				trace->n_dropped++;
				break;
			}
			at = parent;
		}
	}
	free(walked);
}

static void check_tasks(struct tp_trace *trace)
{
	for (size_t i = 0; i < trace->n_tasks; i++) {
		struct tp_task *task = &trace->tasks[i];
		task->comm = string_or_none(trace, task->comm);
		task->exe = string_or_none(trace, task->exe);
		task->cmdline = string_or_none(trace, task->cmdline);
		task->parent = task->parent < trace->n_tasks ? task->parent : TP_NO_TASK;
		if (!is_time(task->start_ns))
			task->start_ns = 0;
		if (task->end_ns && !is_interval(task->start_ns, task->end_ns))
			task->end_ns = 0;
		if (!is_time(task->exec_ns))
			task->exec_ns = 0;
		if (!is_time(task->utime_ns) || !is_time(task->stime_ns))
			task->utime_ns = task->stime_ns = 0;
	}
	cut_loops(trace);
}

static void check_tracks(struct tp_trace *trace)
{
	for (size_t i = 0; i < trace->n_tracks; i++) {
		struct tp_track *track = &trace->tracks[i];
		track->name = string_or_none(trace, track->name);
		if (track->task_plus_1 > trace->n_tasks || track->device != TP_TRACK_THREAD)
			track->task_plus_1 = 0;
	}
}

/* Keeps the items that pass the check. */
#define KEEP(trace, items, n, check)                                                               \
	do {                                                                                       \
		size_t kept_ = 0;                                                                  \
		for (size_t i_ = 0; i_ < (n); i_++)                                                \
			if (check(trace, &(items)[i_]))                                            \
				(items)[kept_++] = (items)[i_];                                    \
		(trace)->n_dropped += (n)-kept_;                                                   \
		(n) = kept_;                                                                       \
	} while (0)

static void check_activity(struct tp_trace *trace)
{
	KEEP(trace, trace->runs, trace->n_runs, check_run);
	KEEP(trace, trace->samples, trace->n_samples, check_sample);
	KEEP(trace, trace->leavings, trace->n_leavings, check_sample);
	KEEP(trace, trace->gauges, trace->n_gauges, check_gauge);
}

static void check_marks_and_sources(struct tp_trace *trace)
{
	KEEP(trace, trace->marks, trace->n_marks, check_mark);
	KEEP(trace, trace->gaps, trace->n_gaps, check_gap);
	KEEP(trace, trace->sources, trace->n_sources, check_source);
	if (trace->n_sources > TP_TRACE_SOURCES_MAX)
		trace->n_sources = TP_TRACE_SOURCES_MAX;
}

static void check_spans(struct tp_trace *trace)
{
	for (size_t i = 0; i < trace->n_tracks; i++)
		KEEP(trace, trace->spans[i].items, trace->spans[i].n, check_span);
}

void tp_trace_check(struct tp_trace *trace)
{
	check_frames(trace);
	check_stacks(trace);
	check_details(trace);
	check_tasks(trace);
	check_tracks(trace);
	trace->run.host.quota_cpus = zero_if_small(trace->run.host.quota_cpus);
	check_activity(trace);
	check_marks_and_sources(trace);
	check_spans(trace);
}
