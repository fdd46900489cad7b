/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the last seconds of a measurement and cuts traces out of them. */
#include "window_data.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
	STACKS_LIMIT = 16 << 20,       /* bytes, as in a recording */
	NAMES_LIMIT = 64 << 20,        /* bytes of texts and frames */
	FRAME_BYTES = 72,              /* of one frame, with its entry in the map */
	RECORDS_BEFORE_TRIM = 1 << 14, /* in addition to twice the number that the last trim left */
};

/* ---- adding records ------------------------------------------------------------------------ */

static struct kept_task *find_task(struct tp_window *window, uint32_t id)
{
	uint64_t at;
	return tp_map_get(&window->slots, id, &at) ? &window->tasks[at] : NULL;
}

uint32_t tp_window_track(const struct tp_window *window, uint32_t id)
{
	uint32_t at = 0;
	while (at < window->n_tracks && window->tracks[at].id != id)
		at++;
	return at;
}

static void add_task(struct tp_window *window, const struct tp_task *task)
{
	struct kept_task *known = find_task(window, task->id);
	if (known) {
		/* If the creator was dropped, the task keeps the ancestor that replaced it. */
		uint32_t parent =
			find_task(window, task->parent) ? task->parent : known->task.parent;
		known->task = *task;
		known->task.parent = parent;
		return;
	}
	tp_map_set(&window->slots, task->id, window->n_tasks);
	TP_ARRAY_PUSH(window->tasks, window->n_tasks, window->tasks_capacity) =
		(struct kept_task){.task = *task};
}

static void add_run(struct tp_window *window, const struct tp_run *run)
{
	struct kept_task *task = find_task(window, run->task);
	TP_ARRAY_PUSH(window->runs, window->n_runs, window->runs_capacity) = *run;
	if (!task || run->end_ns < task->newest_end_ns)
		return;
	task->has_stay = true;
	task->newest_end_ns = run->end_ns;
	task->newest_how = run->how;
	if (task->on_since_ns < run->end_ns)
		task->on_since_ns = 0;
}

/* A stay is recorded when it ends. Until then samples show that there is one. */
static void add_sample(struct tp_window *window, const struct tp_sample *sample)
{
	struct kept_task *task = find_task(window, sample->task);
	TP_ARRAY_PUSH(window->samples, window->n_samples, window->samples_capacity) = *sample;
	bool is_interrupt = sample->state == TP_STATE_ON_CPU &&
			    !(sample->flags & (TP_SAMPLE_POLLED | TP_SAMPLE_SWITCH_OUT));
	if (task && is_interrupt && !task->on_since_ns && sample->time_ns >= task->newest_end_ns)
		task->on_since_ns = sample->time_ns;
}

static void add_source(struct tp_window *window, const struct tp_source *source)
{
	for (size_t i = 0; i < window->n_sources; i++) {
		if (window->sources[i].name != source->name)
			continue;
		window->sources[i] = *source;
		return;
	}
	TP_ARRAY_PUSH(window->sources, window->n_sources, window->sources_capacity) = *source;
}

/* Tracks that have spans would be empty here. */
static void add_track(struct tp_window *window, const struct tp_track *track)
{
	uint32_t at = tp_window_track(window, track->id);
	if (track->device == TP_TRACK_THREAD || track->number != TP_TRACK_WHOLE)
		return;
	if (at < window->n_tracks)
		window->tracks[at] = *track;
	else
		TP_ARRAY_PUSH(window->tracks, window->n_tracks, window->tracks_capacity) = *track;
}

/* Returns the time of a record; 0 = it has no time. */
static uint64_t time_of(const struct tp_record *record)
{
	switch (record->kind) {
	case TP_RECORD_RUN:
		return record->of.run.end_ns;
	case TP_RECORD_SAMPLE:
		return record->of.sample.time_ns;
	case TP_RECORD_GAUGE:
		return record->of.gauge.time_ns;
	case TP_RECORD_MARK:
		return record->of.mark.time_ns;
	default:
		return 0;
	}
}

static void keep(struct tp_window *window, const struct tp_record *record)
{
	switch (record->kind) {
	case TP_RECORD_TASK:
		add_task(window, &record->of.task);
		break;
	case TP_RECORD_RUN:
		add_run(window, &record->of.run);
		break;
	case TP_RECORD_SAMPLE:
		add_sample(window, &record->of.sample);
		break;
	case TP_RECORD_GAUGE:
		TP_ARRAY_PUSH(window->gauges, window->n_gauges, window->gauges_capacity) =
			record->of.gauge;
		break;
	case TP_RECORD_MARK:
		TP_ARRAY_PUSH(window->marks, window->n_marks, window->marks_capacity) =
			record->of.mark;
		break;
	case TP_RECORD_GAP:
		TP_ARRAY_PUSH(window->gaps, window->n_gaps, window->gaps_capacity) = record->of.gap;
		break;
	case TP_RECORD_SOURCE:
		add_source(window, &record->of.source);
		break;
	case TP_RECORD_TRACK:
		add_track(window, &record->of.track);
		break;
	default: /* definitions are kept in the base sink */
		break;
	}
}

/* ---- dropping records ---------------------------------------------------------------------- */

static void trim_runs(struct tp_window *window, uint64_t from_ns)
{
	size_t kept = 0;
	for (size_t i = 0; i < window->n_runs; i++) {
		const struct tp_run run = window->runs[i];
		struct kept_task *task = find_task(window, run.task);
		if (run.end_ns >= from_ns) {
			window->runs[kept++] = run;
		} else if (task && (!task->has_last || run.end_ns >= task->last.end_ns)) {
			task->last = run;
			task->has_last = true;
		}
	}
	window->n_runs = kept;
}

static void trim_samples(struct tp_window *window, uint64_t from_ns)
{
	size_t kept = 0;
	for (size_t i = 0; i < window->n_samples; i++) {
		const struct tp_sample sample = window->samples[i];
		struct kept_task *task = find_task(window, sample.task);
		if (sample.time_ns >= from_ns) {
			window->samples[kept++] = sample;
		} else if (task) {
			task->wait = sample;
			task->has_wait = sample.state == TP_STATE_BLOCKED;
		}
	}
	window->n_samples = kept;
}

bool tp_window_is_of_device(const struct tp_gauge *gauge)
{
	return tp_metric_desc(gauge->metric)->subject == TP_METRIC_OF_DEVICE;
}

/* For each metric and task the last reading before the time is kept: counters grow from there. */
static void trim_gauges(struct tp_window *window, uint64_t from_ns)
{
	struct tp_map seen = {0};
	size_t at = window->n_gauges; /* kept ones are packed at the end, newest first */
	for (size_t i = window->n_gauges; i-- > 0;) {
		const struct tp_gauge gauge = window->gauges[i];
		uint64_t key = tp_window_gauge_key(&gauge);
		bool is_old = gauge.time_ns < from_ns;
		bool is_known = gauge.task == TP_NO_TASK || tp_window_is_of_device(&gauge) ||
				find_task(window, gauge.task);
		if (is_old && (!is_known || tp_map_get(&seen, key, NULL)))
			continue;
		if (is_old)
			tp_map_set(&seen, key, 1);
		window->gauges[--at] = gauge;
	}
	window->n_gauges -= at;
	if (at)
		memmove(window->gauges, window->gauges + at,
			window->n_gauges * sizeof(*window->gauges));
	tp_map_release(&seen);
}

/* Returns true if a mark before `end` ends the phase that `begin` begins, or begins it again: a
 * program that never ends its phases leaves one of each name. */
static bool is_ended(const struct tp_mark *begin, const struct tp_mark *end)
{
	for (const struct tp_mark *mark = begin + 1; mark < end; mark++)
		if ((mark->kind == TP_MARK_PHASE_END || mark->kind == TP_MARK_PHASE_BEGIN) &&
		    mark->task == begin->task && mark->name == begin->name)
			return true;
	return false;
}

/* A setting is valid until the next one of its name. */
static bool is_replaced(const struct tp_mark *setting, const struct tp_mark *end)
{
	for (const struct tp_mark *mark = setting + 1; mark < end; mark++)
		if (mark->kind == setting->kind && mark->task == setting->task &&
		    mark->name == setting->name)
			return true;
	return false;
}

/* True for earlier marks that are still in effect. */
static bool is_valid_later(const struct tp_mark *mark, const struct tp_mark *end)
{
	return (mark->kind == TP_MARK_PHASE_BEGIN && !is_ended(mark, end)) ||
	       ((mark->kind == TP_MARK_SETTING || mark->kind == TP_MARK_TOTAL) &&
		!is_replaced(mark, end));
}

/* A phase that has begun and not ended continues as long as its thread lives. */
static void trim_marks(struct tp_window *window, uint64_t from_ns)
{
	size_t kept = 0;
	size_t n_old = 0;
	while (n_old < window->n_marks && window->marks[n_old].time_ns < from_ns)
		n_old++;
	for (size_t i = 0; i < window->n_marks; i++) {
		const struct tp_mark *mark = &window->marks[i];
		bool is_known = mark->task == TP_NO_TASK || find_task(window, mark->task);
		if (i >= n_old || (is_known && is_valid_later(mark, window->marks + n_old)))
			window->marks[kept++] = *mark;
	}
	window->n_marks = kept;
}

static void trim_gaps(struct tp_window *window, uint64_t from_ns)
{
	size_t kept = 0;
	for (size_t i = 0; i < window->n_gaps; i++)
		if (window->gaps[i].end_ns >= from_ns)
			window->gaps[kept++] = window->gaps[i];
	window->n_gaps = kept;
}

/* Drops ended tasks; tasks that they created get the dropped task's own creator, so that no chain
 * of ended tasks remains. */
static void trim_tasks(struct tp_window *window, uint64_t from_ns)
{
	struct tp_map pids = {0};
	for (size_t i = 0; i < window->n_tasks; i++) {
		struct kept_task *task = &window->tasks[i];
		task->is_wanted = !task->task.end_ns || task->task.end_ns >= from_ns;
		if (task->is_wanted)
			tp_map_set(&pids, (uint64_t)task->task.pid, 1);
	}
	for (size_t i = 0; i < window->n_tasks; i++) {
		struct kept_task *task = &window->tasks[i];
		bool is_leader = task->task.tid == task->task.pid;
		task->is_wanted = task->is_wanted ||
				  (is_leader && tp_map_get(&pids, (uint64_t)task->task.pid, NULL));
	}
	tp_map_release(&pids);
	for (size_t i = 0; i < window->n_tasks; i++) {
		struct tp_task *task = &window->tasks[i].task;
		struct kept_task *parent = find_task(window, task->parent);
		/* Creators come first, so a parent's parent is already one that is kept. */
		if (parent && !parent->is_wanted)
			task->parent = parent->task.parent;
	}
	size_t kept = 0;
	for (size_t i = 0; i < window->n_tasks; i++)
		if (window->tasks[i].is_wanted)
			window->tasks[kept++] = window->tasks[i];
	if (kept == window->n_tasks)
		return;
	window->n_tasks = kept;
	tp_map_release(&window->slots);
	for (size_t i = 0; i < kept; i++)
		tp_map_set(&window->slots, window->tasks[i].task.id, i);
}

static size_t n_held(const struct tp_window *window)
{
	return window->n_runs + window->n_samples + window->n_gauges + window->n_marks +
	       window->n_gaps + window->n_tasks;
}

void tp_window_trim(struct tp_window *window, uint64_t from_ns)
{
	trim_runs(window, from_ns);
	trim_samples(window, from_ns);
	trim_gaps(window, from_ns);
	trim_tasks(window, from_ns);
	/* These need the tasks that are left: */
	trim_marks(window, from_ns);
	trim_gauges(window, from_ns);
	window->n_left = n_held(window);
}

static void window_put(struct tp_sink *sink, const struct tp_record *record)
{
	struct tp_window *window = (struct tp_window *)(void *)sink;
	uint64_t time_ns = time_of(record);
	if (time_ns > window->last_ns)
		window->last_ns = time_ns;
	keep(window, record);
	if (window->last_ns > window->keep_ns &&
	    n_held(window) > 2 * window->n_left + RECORDS_BEFORE_TRIM)
		tp_window_trim(window, window->last_ns - window->keep_ns);
}

static const struct tp_sink_type window_type = {.name = "window", .put = window_put};

struct tp_window *tp_window_new(uint64_t keep_ns)
{
	struct tp_window *window = tp_alloc(sizeof(*window));
	tp_sink_init(&window->sink, &window_type);
	window->sink.stacks_limit = STACKS_LIMIT;
	window->keep_ns = keep_ns;
	return window;
}

void tp_window_free(struct tp_window *window)
{
	if (!window)
		return;
	tp_sink_release(&window->sink);
	tp_map_release(&window->slots);
	free(window->tasks);
	free(window->runs);
	free(window->samples);
	free(window->gauges);
	free(window->marks);
	free(window->gaps);
	free(window->sources);
	free(window->tracks);
	free(window);
}

struct tp_sink *tp_window_sink(struct tp_window *window)
{
	return &window->sink;
}

uint64_t tp_window_last_ns(const struct tp_window *window)
{
	return window->last_ns;
}

bool tp_window_is_full(const struct tp_window *window)
{
	const struct tp_sink *sink = &window->sink;
	return sink->strings.arena.total_bytes + sink->n_frames * FRAME_BYTES > NAMES_LIMIT;
}
