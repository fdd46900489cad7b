/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts a trace of an interval out of the records in a window. */
#include "window_data.h"

#include "trainprof/base/memory.h"

#include <stdio.h>
#include <stdlib.h>

/* Time before the interval for records that describe the state before it. */
enum { LEAD_NS = 2 };

#define NO_SUBJECT (TP_NO_TASK - 1) /* greater than any index */

/* Maps the window's ids to those of the trace, for ids that occurred so far; 0 = not yet, because
 * id 0 is always the empty one. */
struct cut {
	struct tp_window *window;
	struct tp_sink *to;
	uint64_t from_ns;
	uint64_t until_ns;
	uint32_t *strings;
	uint32_t *frames;
	struct tp_map stacks;
};

static uint32_t string_of(struct cut *cut, uint32_t id)
{
	const struct tp_strtab *strings = &cut->window->sink.strings;
	if (!id || id >= strings->n)
		return 0;
	if (!cut->strings[id])
		cut->strings[id] = tp_sink_string(cut->to, tp_strtab_text(strings, id));
	return cut->strings[id];
}

static uint32_t frame_of(struct cut *cut, uint32_t id)
{
	struct tp_frame frame;
	if (!id || id >= cut->window->sink.n_frames)
		return 0;
	if (!cut->frames[id]) {
		tp_sink_frame_get(&cut->window->sink, id, &frame);
		frame.module = string_of(cut, frame.module);
		frame.symbol = string_of(cut, frame.symbol);
		frame.file = string_of(cut, frame.file);
		cut->frames[id] = tp_sink_frame(cut->to, &frame);
	}
	return cut->frames[id];
}

static uint32_t stack_of(struct cut *cut, uint32_t id)
{
	uint32_t frames[TP_STACK_MAX_FRAMES];
	uint64_t known;
	struct tp_stack stack;
	if (tp_map_get(&cut->stacks, id, &known))
		return (uint32_t)known;
	tp_sink_stack_get(&cut->window->sink, id, &stack);
	for (uint32_t i = 0; i < stack.n_frames; i++)
		frames[i] = frame_of(cut, stack.frames[i]);
	uint32_t made = tp_sink_stack(cut->to, frames, stack.n_frames, stack.flags);
	tp_map_set(&cut->stacks, id, made);
	return made;
}

/* Returns a dense id in the order of the window's ids, so that creators still come first. */
static uint32_t task_of(const struct cut *cut, uint32_t id)
{
	uint64_t at;
	return tp_map_get(&cut->window->slots, id, &at) ? (uint32_t)at : TP_NO_TASK;
}

static void add_sample(struct cut *cut, struct tp_sample sample)
{
	sample.task = task_of(cut, sample.task);
	sample.stack = stack_of(cut, sample.stack);
	sample.target = string_of(cut, sample.target);
	if (sample.task != TP_NO_TASK && sample.time_ns < cut->until_ns)
		tp_sink_sample(cut->to, &sample);
}

static void add_run(struct cut *cut, struct tp_run run)
{
	run.task = task_of(cut, run.task);
	if (run.start_ns < cut->from_ns)
		run.start_ns = cut->from_ns;
	if (run.task == TP_NO_TASK || run.start_ns >= cut->until_ns)
		return;
	if (run.end_ns > cut->until_ns) {
		run.end_ns = cut->until_ns;
		run.how = TP_RUN_OPEN;
	}
	tp_sink_run(cut->to, &run);
}

static void add_task(struct cut *cut, const struct kept_task *kept)
{
	struct tp_task task = kept->task;
	task.id = task_of(cut, task.id);
	task.parent = task_of(cut, task.parent);
	task.comm = string_of(cut, task.comm);
	task.exe = string_of(cut, task.exe);
	task.cmdline = string_of(cut, task.cmdline);
	tp_sink_task(cut->to, &task);
}

static void add_track(struct cut *cut, uint32_t at)
{
	struct tp_track track = cut->window->tracks[at];
	track.id = at;
	track.name = string_of(cut, track.name);
	tp_sink_track(cut->to, &track);
}

/* Before the interval, a stay of one ns shows how the last one ended, and a sample the state after
 * it. */
static void add_before(struct cut *cut, const struct kept_task *kept)
{
	struct tp_run last = kept->last;
	struct tp_sample wait = kept->wait;
	bool is_waiting = kept->has_wait && (!kept->has_last || wait.time_ns >= kept->last.end_ns);
	if (kept->has_last && last.how != TP_RUN_EXITED) {
		last.task = task_of(cut, last.task);
		last.start_ns = cut->from_ns - LEAD_NS;
		last.end_ns = last.start_ns + (last.how != TP_RUN_OPEN);
		tp_sink_run(cut->to, &last);
	}
	wait.time_ns = cut->from_ns - 1;
	if (is_waiting)
		add_sample(cut, wait);
}

/* Adds a stay that has not ended. Without switch records, samples show the state. */
static void add_present(struct cut *cut, const struct kept_task *kept)
{
	if (!kept->on_since_ns || !kept->has_stay || kept->newest_how == TP_RUN_OPEN ||
	    kept->task.end_ns)
		return;
	struct tp_run run = {.task = kept->task.id,
			     .start_ns = kept->on_since_ns,
			     .end_ns = cut->until_ns,
			     .how = TP_RUN_OPEN};
	if (run.start_ns < run.end_ns)
		add_run(cut, run);
}

/* Computes the value at the beginning by linear interpolation to the next reading. */
static double value_at_begin(const struct cut *cut, const struct tp_gauge *first,
			     const struct tp_gauge *next)
{
	if (!next)
		return first->value;
	double part =
		(double)(cut->from_ns - first->time_ns) / (double)(next->time_ns - first->time_ns);
	return first->value + (next->value - first->value) * part;
}

/* Returns the index of a task or track, TP_NO_TASK for the host, or NO_SUBJECT if the window does
 * not have it any more. */
static uint32_t subject_of(const struct cut *cut, const struct tp_gauge *gauge)
{
	if (tp_window_is_of_device(gauge)) {
		uint32_t track = tp_window_track(cut->window, gauge->task);
		return track < cut->window->n_tracks ? track : NO_SUBJECT;
	}
	if (gauge->task == TP_NO_TASK)
		return TP_NO_TASK;
	uint32_t task = task_of(cut, gauge->task);
	return task == TP_NO_TASK ? NO_SUBJECT : task;
}

/* `next` is a reading of the same metric and subject, or NULL. */
static void add_gauge(struct cut *cut, const struct tp_gauge *gauge, const struct tp_gauge *next)
{
	uint32_t subject = subject_of(cut, gauge);
	if (subject == NO_SUBJECT)
		return;
	if (gauge->time_ns < cut->from_ns)
		tp_sink_gauge(cut->to, gauge->metric, subject, cut->from_ns,
			      value_at_begin(cut, gauge, next));
	else if (gauge->time_ns < cut->until_ns)
		tp_sink_gauge(cut->to, gauge->metric, subject, gauge->time_ns, gauge->value);
}

/* From the newest to the oldest, so that the next reading is known. */
static void add_gauges(struct cut *cut)
{
	const struct tp_window *window = cut->window;
	struct tp_map nexts = {0};
	for (size_t i = window->n_gauges; i-- > 0;) {
		const struct tp_gauge *gauge = &window->gauges[i];
		uint64_t key = tp_window_gauge_key(gauge);
		uint64_t next;
		bool has_next = tp_map_get(&nexts, key, &next);
		add_gauge(cut, gauge, has_next ? &window->gauges[next] : NULL);
		tp_map_set(&nexts, key, i);
	}
	tp_map_release(&nexts);
}

static void add_mark(struct cut *cut, struct tp_mark mark)
{
	if (mark.task != TP_NO_TASK)
		mark.task = task_of(cut, mark.task);
	mark.name = string_of(cut, mark.name);
	if (mark.time_ns < cut->until_ns)
		tp_sink_mark(cut->to, &mark);
}

static void add_events(struct cut *cut)
{
	const struct tp_window *window = cut->window;
	const struct tp_strtab *strings = &window->sink.strings;
	for (size_t i = 0; i < window->n_gaps; i++) {
		const struct tp_gap *gap = &window->gaps[i];
		if (gap->start_ns < cut->until_ns)
			tp_sink_gap(cut->to, tp_strtab_text(strings, gap->source),
				    tp_strtab_text(strings, gap->reason), gap->start_ns,
				    gap->end_ns < cut->until_ns ? gap->end_ns : cut->until_ns,
				    gap->n_lost);
	}
	for (size_t i = 0; i < window->n_sources; i++) {
		const struct tp_source *source = &window->sources[i];
		struct tp_availability availability = {.presence = source->presence};
		snprintf(availability.reason, sizeof(availability.reason), "%s",
			 tp_strtab_text(strings, source->reason));
		snprintf(availability.remedy, sizeof(availability.remedy), "%s",
			 tp_strtab_text(strings, source->remedy));
		tp_sink_source(cut->to, tp_strtab_text(strings, source->name),
			       tp_strtab_text(strings, source->summary), &availability,
			       source->n_records, source->n_lost);
	}
}

static void add_all(struct cut *cut)
{
	struct tp_window *window = cut->window;
	for (size_t i = 0; i < window->n_tasks; i++)
		add_task(cut, &window->tasks[i]);
	for (uint32_t i = 0; i < window->n_tracks; i++)
		add_track(cut, i);
	for (size_t i = 0; i < window->n_tasks; i++)
		add_before(cut, &window->tasks[i]);
	for (size_t i = 0; i < window->n_runs; i++)
		add_run(cut, window->runs[i]);
	for (size_t i = 0; i < window->n_tasks; i++)
		add_present(cut, &window->tasks[i]);
	for (size_t i = 0; i < window->n_samples; i++)
		add_sample(cut, window->samples[i]);
	add_gauges(cut);
	for (size_t i = 0; i < window->n_marks; i++)
		add_mark(cut, window->marks[i]);
	add_events(cut);
}

void tp_window_cut(struct tp_window *window, struct tp_trace *out, const struct tp_run_info *run,
		   uint64_t from_ns, uint64_t until_ns)
{
	struct tp_trace_builder builder;
	struct tp_run_info stretch = *run;
	tp_window_trim(window, from_ns);
	tp_trace_builder_init(&builder);
	struct cut cut = {.window = window,
			  .to = &builder.sink,
			  .from_ns = from_ns,
			  .until_ns = until_ns,
			  .strings = tp_alloc(window->sink.strings.n * sizeof(uint32_t)),
			  .frames = tp_alloc(window->sink.n_frames * sizeof(uint32_t))};
	add_all(&cut);
	stretch.started_wall_ns += from_ns - run->started_ns;
	stretch.started_ns = from_ns - LEAD_NS;
	stretch.measure_from_ns = from_ns;
	stretch.ended_ns = stretch.measure_until_ns = until_ns;
	tp_trace_build(out, &builder, &stretch);
	tp_map_release(&cut.stacks);
	free(cut.frames);
	free(cut.strings);
	tp_trace_builder_release(&builder);
}
