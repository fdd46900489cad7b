/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a trace: sorts, checks and indexes the records that a builder collected. */
#include "trainprof/model/trace.h"

#include "trace_stops.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"
#include "trainprof/model/trace_check.h"

#include <stdlib.h>
#include <string.h>

static void add_span(struct tp_trace_builder *builder, const struct tp_span *span)
{
	while (builder->n_spans <= span->track)
		TP_ARRAY_PUSH(builder->spans, builder->n_spans, builder->spans_capacity) =
			(struct tp_track_spans){0};
	struct tp_track_spans *spans = &builder->spans[span->track];
	TP_ARRAY_PUSH(spans->items, spans->n, spans->capacity) = *span;
}

/* Strings, frames, stacks and details stay in the builder's sink; all other records are kept in the
 * order of arrival. */
static void builder_put(struct tp_sink *sink, const struct tp_record *record)
{
	struct tp_trace_builder *builder = (struct tp_trace_builder *)(void *)sink;
	if (record->kind == TP_RECORD_STRING || record->kind == TP_RECORD_FRAME ||
	    record->kind == TP_RECORD_STACK || record->kind == TP_RECORD_DETAIL)
		return;
	if (record->kind == TP_RECORD_RUN)
		TP_ARRAY_PUSH(builder->runs, builder->n_runs, builder->runs_capacity) =
			record->of.run;
	else if (record->kind == TP_RECORD_SAMPLE)
		TP_ARRAY_PUSH(builder->samples, builder->n_samples, builder->samples_capacity) =
			record->of.sample;
	else if (record->kind == TP_RECORD_SPAN)
		add_span(builder, &record->of.span);
	else
		TP_ARRAY_PUSH(builder->records, builder->n_records, builder->records_capacity) =
			*record;
}

static const struct tp_sink_type builder_type = {.name = "trace", .put = builder_put};

void tp_trace_builder_init(struct tp_trace_builder *builder)
{
	*builder = (struct tp_trace_builder){0};
	tp_sink_init(&builder->sink, &builder_type);
}

void tp_trace_builder_release(struct tp_trace_builder *builder)
{
	tp_sink_release(&builder->sink);
	free(builder->records);
	free(builder->runs);
	free(builder->samples);
	for (size_t i = 0; i < builder->n_spans; i++)
		free(builder->spans[i].items);
	free(builder->spans);
	*builder = (struct tp_trace_builder){0};
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int run_order(const void *a, const void *b)
{
	const struct tp_run *x = a;
	const struct tp_run *y = b;
	if (x->task != y->task)
		return compare_u64(x->task, y->task);
	return compare_u64(x->start_ns, y->start_ns);
}

static int sample_order(const void *a, const void *b)
{
	const struct tp_sample *x = a;
	const struct tp_sample *y = b;
	if (x->task != y->task)
		return compare_u64(x->task, y->task);
	return compare_u64(x->time_ns, y->time_ns);
}

static int gauge_order(const void *a, const void *b)
{
	const struct tp_gauge *x = a;
	const struct tp_gauge *y = b;
	if (x->metric != y->metric)
		return compare_u64(x->metric, y->metric);
	if (x->task != y->task)
		return compare_u64(x->task, y->task);
	return compare_u64(x->time_ns, y->time_ns);
}

static int mark_order(const void *a, const void *b)
{
	return compare_u64(((const struct tp_mark *)a)->time_ns,
			   ((const struct tp_mark *)b)->time_ns);
}

static int gap_order(const void *a, const void *b)
{
	return compare_u64(((const struct tp_gap *)a)->start_ns,
			   ((const struct tp_gap *)b)->start_ns);
}

/* Counts the records of each kind that the trace needs room for. */
static void count_kinds(const struct tp_trace_builder *builder, size_t counts[TP_N_RECORDS])
{
	for (size_t i = 0; i < builder->n_records; i++)
		counts[builder->records[i].kind]++;
}

static void copy_tables(struct tp_trace *trace, const struct tp_sink *sink)
{
	struct tp_arena *arena = &trace->arena;
	trace->n_strings = sink->strings.n;
	trace->strings = tp_arena_array(arena, trace->n_strings, sizeof(*trace->strings));
	for (uint32_t id = 0; id < trace->n_strings; id++)
		trace->strings[id] = tp_arena_strdup(arena, tp_strtab_text(&sink->strings, id));
	trace->n_frames = sink->n_frames;
	trace->frames = tp_arena_array(arena, trace->n_frames, sizeof(*trace->frames));
	for (uint32_t id = 1; id < trace->n_frames; id++)
		tp_sink_frame_get(sink, id, &trace->frames[id]);
	trace->n_stacks = sink->n_stacks;
	trace->stacks = tp_arena_array(arena, trace->n_stacks, sizeof(*trace->stacks));
	for (uint32_t id = 1; id < trace->n_stacks; id++) {
		struct tp_stack *stack = &trace->stacks[id];
		tp_sink_stack_get(sink, id, stack);
		stack->frames = tp_arena_copy(arena, stack->frames,
					      stack->n_frames * sizeof(*stack->frames));
	}
	trace->n_details = sink->details.n;
	trace->details = tp_arena_array(arena, trace->n_details, sizeof(*trace->details));
	for (uint32_t id = 1; id < trace->n_details; id++)
		tp_sink_detail_get(sink, id, &trace->details[id]);
}

static uint64_t since_start(const struct tp_trace *trace, uint64_t time_ns)
{
	uint64_t zero = trace->run.started_ns;
	return time_ns > zero ? time_ns - zero : 0;
}

/* Stores tasks by id; ids that were never defined become empty rows, so that an index is always
 * valid. */
static void place_tasks(struct tp_trace *trace, const struct tp_trace_builder *builder)
{
	/* An id is at most the number of task records: ids are dense in order of appearance. A
	 * damaged recording may contain larger ones; those are dropped here and everywhere
	 * below. */
	size_t limit = 0;
	for (size_t i = 0; i < builder->n_records; i++)
		limit += builder->records[i].kind == TP_RECORD_TASK;
	trace->tasks = tp_arena_array(&trace->arena, limit, sizeof(*trace->tasks));
	for (size_t i = 0; i < limit; i++)
		trace->tasks[i] = (struct tp_task){.id = (uint32_t)i, .parent = TP_NO_TASK};
	for (size_t i = 0; i < builder->n_records; i++) {
		const struct tp_record *record = &builder->records[i];
		if (record->kind != TP_RECORD_TASK)
			continue;
		struct tp_task task = record->of.task;
		if (task.id >= limit) {
			trace->n_dropped++;
			continue;
		}
		task.start_ns = since_start(trace, task.start_ns);
		task.exec_ns = task.exec_ns ? since_start(trace, task.exec_ns) : 0;
		task.end_ns = task.end_ns ? since_start(trace, task.end_ns) : 0;
		trace->tasks[task.id] = task;
		if (task.id >= trace->n_tasks)
			trace->n_tasks = task.id + 1;
	}
}

/* Takes the builder's runs, without those of length 0, which have no information. */
static void place_runs(struct tp_trace *trace, struct tp_trace_builder *builder)
{
	trace->runs = builder->runs;
	for (size_t i = 0; i < builder->n_runs; i++) {
		struct tp_run run = builder->runs[i];
		run.start_ns = since_start(trace, run.start_ns);
		run.end_ns = since_start(trace, run.end_ns);
		if (run.end_ns != run.start_ns || run.how == TP_RUN_OPEN)
			trace->runs[trace->n_runs++] = run;
	}
}

/* Takes the builder's samples since the start of the run; those of threads that leave a CPU go into
 * an array of their own. */
static void place_samples(struct tp_trace *trace, struct tp_trace_builder *builder)
{
	size_t capacity = 0;
	trace->samples = builder->samples;
	for (size_t i = 0; i < builder->n_samples; i++) {
		struct tp_sample sample = builder->samples[i];
		if (sample.time_ns < trace->run.started_ns) {
			trace->n_dropped++;
			continue;
		}
		sample.time_ns = since_start(trace, sample.time_ns);
		if (sample.flags & TP_SAMPLE_SWITCH_OUT)
			TP_ARRAY_PUSH(trace->leavings, trace->n_leavings, capacity) = sample;
		else
			trace->samples[trace->n_samples++] = sample;
	}
}

static void place_gauge(struct tp_trace *trace, struct tp_gauge gauge)
{
	gauge.time_ns = since_start(trace, gauge.time_ns);
	trace->gauges[trace->n_gauges++] = gauge;
}

static void place_tracks(struct tp_trace *trace, const struct tp_trace_builder *builder)
{
	size_t limit = 0;
	for (size_t i = 0; i < builder->n_records; i++)
		limit += builder->records[i].kind == TP_RECORD_TRACK;
	if (limit > TP_TRACKS_MAX)
		limit = TP_TRACKS_MAX;
	trace->tracks = tp_arena_array(&trace->arena, limit, sizeof(*trace->tracks));
	for (size_t i = 0; i < builder->n_records; i++) {
		const struct tp_record *record = &builder->records[i];
		if (record->kind != TP_RECORD_TRACK)
			continue;
		const struct tp_track *track = &record->of.track;
		/* Tracks first appear in order of their ids: a recording that skips one is
		 * damaged. */
		if (track->id >= limit || track->id > trace->n_tracks) {
			trace->n_dropped++;
			continue;
		}
		trace->tracks[track->id] = *track;
		trace->n_tracks += track->id == trace->n_tracks;
	}
}

/* Takes ownership of the builder's spans. */
static void place_spans(struct tp_trace *trace, struct tp_trace_builder *builder)
{
	trace->spans = tp_arena_array(&trace->arena, trace->n_tracks, sizeof(*trace->spans));
	for (size_t i = trace->n_tracks; i < builder->n_spans; i++)
		trace->n_dropped += builder->spans[i].n;
	for (size_t i = 0; i < trace->n_tracks && i < builder->n_spans; i++) {
		struct tp_track_spans *to = &trace->spans[i];
		*to = builder->spans[i];
		builder->spans[i] = (struct tp_track_spans){0};
		for (size_t k = 0; k < to->n; k++) {
			to->items[k].start_ns = since_start(trace, to->items[k].start_ns);
			to->items[k].end_ns = since_start(trace, to->items[k].end_ns);
		}
	}
}

static void place_source(struct tp_trace *trace, const struct tp_source *source)
{
	size_t i = 0;
	while (i < trace->n_sources && trace->sources[i].name != source->name)
		i++;
	trace->sources[i] = *source;
	if (i == trace->n_sources)
		trace->n_sources++;
}

static void place_record(struct tp_trace *trace, const struct tp_record *record)
{
	switch (record->kind) {
	case TP_RECORD_GAUGE:
		place_gauge(trace, record->of.gauge);
		break;
	case TP_RECORD_MARK:
		trace->marks[trace->n_marks] = record->of.mark;
		trace->marks[trace->n_marks++].time_ns =
			since_start(trace, record->of.mark.time_ns);
		break;
	case TP_RECORD_GAP: {
		struct tp_gap *gap = &trace->gaps[trace->n_gaps++];
		*gap = record->of.gap;
		gap->start_ns = since_start(trace, gap->start_ns);
		/* UINT64_MAX: it never ended. */
		if (gap->end_ns != UINT64_MAX)
			gap->end_ns = since_start(trace, gap->end_ns);
		break;
	}
	case TP_RECORD_SOURCE:
		place_source(trace, &record->of.source);
		break;
	default:
		break;
	}
}

/* Copies items into the arena, sorted by task, and frees them. Keeps the order within a task, which
 * is already that of time if one source recorded it: one pass to count and one to place, ten times
 * as fast as comparing (5 million runs: 0.1 s). An item begins with its task's id. */
static void *bucket_by_task(struct tp_trace *trace, void *items, size_t n, size_t item_size)
{
	size_t *next = tp_alloc((trace->n_tasks + 1) * sizeof(*next));
	char *sorted = tp_arena_array(&trace->arena, n, item_size);
	const char *from = items;
	uint32_t task;
	for (size_t i = 0; i < n; i++) {
		memcpy(&task, from + i * item_size, sizeof(task));
		next[task + 1]++;
	}
	for (size_t i = 1; i <= trace->n_tasks; i++)
		next[i] += next[i - 1];
	for (size_t i = 0; i < n; i++) {
		memcpy(&task, from + i * item_size, sizeof(task));
		memcpy(sorted + next[task]++ * item_size, from + i * item_size, item_size);
	}
	free(items);
	free(next);
	return sorted;
}

static void sort_runs(struct tp_trace *trace)
{
	trace->runs = bucket_by_task(trace, trace->runs, trace->n_runs, sizeof(*trace->runs));
	for (size_t i = 1; i < trace->n_runs; i++) {
		if (run_order(&trace->runs[i - 1], &trace->runs[i]) > 0) {
			qsort(trace->runs, trace->n_runs, sizeof(*trace->runs), run_order);
			return;
		}
	}
}

static struct tp_sample *sort_samples(struct tp_trace *trace, struct tp_sample *items, size_t n)
{
	struct tp_sample *samples = bucket_by_task(trace, items, n, sizeof(*items));
	for (size_t i = 1; i < n; i++) {
		if (sample_order(&samples[i - 1], &samples[i]) > 0) {
			qsort(samples, n, sizeof(*samples), sample_order);
			break;
		}
	}
	return samples;
}

/* The builder's runs and samples are freed before the trace needs room for more. */
static void sort_most(struct tp_trace *trace, struct tp_trace_builder *builder)
{
	sort_runs(trace);
	builder->runs = NULL;
	trace->samples = sort_samples(trace, trace->samples, trace->n_samples);
	trace->leavings = sort_samples(trace, trace->leavings, trace->n_leavings);
	builder->samples = NULL;
	builder->n_runs = builder->n_samples = 0;
	builder->runs_capacity = builder->samples_capacity = 0;
}

static void sort_all(struct tp_trace *trace)
{
	qsort(trace->gauges, trace->n_gauges, sizeof(*trace->gauges), gauge_order);
	qsort(trace->marks, trace->n_marks, sizeof(*trace->marks), mark_order);
	qsort(trace->gaps, trace->n_gaps, sizeof(*trace->gaps), gap_order);
	for (size_t i = 0; i < trace->n_tracks; i++)
		tp_spans_sort(trace->spans[i].items, trace->spans[i].n);
}

/* A task is on one CPU at a time: a later start takes precedence, and the overlap is cut. */
static void clip_runs(struct tp_trace *trace)
{
	size_t kept = 0;
	for (size_t i = 0; i < trace->n_runs; i++) {
		struct tp_run run = trace->runs[i];
		struct tp_run *before = kept ? &trace->runs[kept - 1] : NULL;
		if (before && before->task == run.task && before->end_ns > run.start_ns) {
			trace->n_dropped++;
			before->end_ns = run.start_ns;
			if (before->end_ns == before->start_ns)
				kept--;
		}
		trace->runs[kept++] = run;
	}
	trace->n_runs = kept;
}

static void index_tasks(struct tp_trace *trace)
{
	size_t n = trace->n_tasks + 1;
	trace->run_index = tp_arena_array(&trace->arena, n, sizeof(size_t));
	trace->sample_index = tp_arena_array(&trace->arena, n, sizeof(size_t));
	size_t run = 0;
	size_t sample = 0;
	for (size_t task = 0; task < n; task++) {
		while (run < trace->n_runs && trace->runs[run].task < task)
			run++;
		while (sample < trace->n_samples && trace->samples[sample].task < task)
			sample++;
		trace->run_index[task] = run;
		trace->sample_index[task] = sample;
	}
}

/* Sources of a live run emit a record at least once per second, and at its end. */
#define END_SLACK_NS (60 * TP_NS_PER_S)
/* A program may continue for a long time after --duration, or after recording has stopped. This is
 * the upper limit, which no clock has reached. */
#define RUN_MAX_NS (10ULL * 366 * 86400 * TP_NS_PER_S)

static uint64_t last_record_ns(const struct tp_trace *trace)
{
	uint64_t last = 0;
	for (size_t i = 0; i < trace->n_runs; i++)
		if (trace->runs[i].end_ns > last)
			last = trace->runs[i].end_ns;
	for (size_t i = 0; i < trace->n_samples; i++)
		if (trace->samples[i].time_ns > last)
			last = trace->samples[i].time_ns;
	for (size_t i = 0; i < trace->n_gauges; i++)
		if (trace->gauges[i].time_ns > last)
			last = trace->gauges[i].time_ns;
	for (size_t i = 0; i < trace->n_tracks; i++)
		for (size_t k = 0; k < trace->spans[i].n; k++)
			if (trace->spans[i].items[k].end_ns > last)
				last = trace->spans[i].items[k].end_ns;
	return last;
}

/* Returns the time at which the kernel ended the target's last thread; 0 if that is unknown. */
static uint64_t kernel_end_ns(const struct tp_trace *trace)
{
	const struct tp_run_info *run = &trace->run;
	uint64_t end_ns = 0;
	if (run->end != TP_END_EXITED && run->end != TP_END_SIGNALED)
		return 0;
	for (size_t i = 0; i < trace->n_tasks; i++) {
		if (trace->tasks[i].pid != run->pid)
			continue;
		if (!trace->tasks[i].end_ns)
			return 0;
		if (trace->tasks[i].end_ns > end_ns)
			end_ns = trace->tasks[i].end_ns;
	}
	return end_ns;
}

/* Returns true if the run may have lasted this long after its last record. */
static bool is_end_possible(const struct tp_trace *trace, uint64_t end_ns, uint64_t last_ns)
{
	const struct tp_run_info *run = &trace->run;
	if (end_ns > RUN_MAX_NS)
		return false;
	if (run->mode == TP_MODE_IMPORT || !last_ns || end_ns <= last_ns + END_SLACK_NS)
		return true;
	uint64_t measured_ns = since_start(trace, run->measure_until_ns);
	if (measured_ns && measured_ns < end_ns && measured_ns <= last_ns + END_SLACK_NS)
		return true;
	for (size_t i = 0; i < trace->n_gaps; i++)
		if (trace->gaps[i].end_ns >= end_ns)
			return true; /* recording had already stopped */
	return false;
}

static void find_end(struct tp_trace *trace)
{
	uint64_t last_ns = last_record_ns(trace);
	trace->end_ns = trace->run.ended_ns ? since_start(trace, trace->run.ended_ns) : last_ns;
	uint64_t exit_ns = kernel_end_ns(trace);
	if (exit_ns && exit_ns < trace->end_ns)
		trace->end_ns = exit_ns;
	if (is_end_possible(trace, trace->end_ns, last_ns))
		return;
	trace->is_end_cut = true;
	trace->end_ns = last_ns;
}

void tp_trace_build(struct tp_trace *out, struct tp_trace_builder *builder,
		    const struct tp_run_info *run)
{
	*out = (struct tp_trace){0};
	struct tp_arena *arena = &out->arena;
	size_t counts[TP_N_RECORDS] = {0};
	count_kinds(builder, counts);
	tp_run_info_copy(&out->run, run, arena);
	copy_tables(out, &builder->sink);
	place_tasks(out, builder);
	place_runs(out, builder);
	place_samples(out, builder);
	place_tracks(out, builder);
	place_spans(out, builder);
	out->gauges = tp_arena_array(arena, counts[TP_RECORD_GAUGE], sizeof(*out->gauges));
	out->marks = tp_arena_array(arena, counts[TP_RECORD_MARK], sizeof(*out->marks));
	out->gaps = tp_arena_array(arena, counts[TP_RECORD_GAP], sizeof(*out->gaps));
	out->sources = tp_arena_array(arena, counts[TP_RECORD_SOURCE] + 1, sizeof(*out->sources));
	for (size_t i = 0; i < builder->n_records; i++)
		place_record(out, &builder->records[i]);
	tp_trace_check(out);
	sort_most(out, builder);
	sort_all(out);
	clip_runs(out);
	index_tasks(out);
	find_end(out);
	tp_trace_stops_leave_out(out);
	index_tasks(out);
}

void tp_trace_release(struct tp_trace *trace)
{
	for (size_t i = 0; i < trace->n_tracks; i++)
		free(trace->spans[i].items);
	tp_arena_release(&trace->arena);
	*trace = (struct tp_trace){0};
}
