/* SPDX-License-Identifier: Apache-2.0 */
/* Changes records with the help of a table of their fields. */
#include "mutate_records.h"

#include "mutate_document.h"

#include "trainprof/base/memory.h"
#include "trainprof/store/recording.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OF_EACH_KIND_MAX = 400 };

static uint64_t shifted(uint64_t time_ns, const struct tp_run_info *run)
{
	return time_ns ? time_ns + run->started_ns : 0;
}

/* Converts times: in a trace they count from its begin, in records they are clock times. */
static void to_clock(struct tp_record *record, const struct tp_run_info *run)
{
	switch (record->kind) {
	case TP_RECORD_TASK:
		record->of.task.start_ns += run->started_ns;
		record->of.task.end_ns = shifted(record->of.task.end_ns, run);
		record->of.task.exec_ns = shifted(record->of.task.exec_ns, run);
		break;
	case TP_RECORD_RUN:
		record->of.run.start_ns += run->started_ns;
		record->of.run.end_ns += run->started_ns;
		break;
	case TP_RECORD_SAMPLE:
		record->of.sample.time_ns += run->started_ns;
		break;
	case TP_RECORD_GAUGE:
		record->of.gauge.time_ns += run->started_ns;
		break;
	case TP_RECORD_MARK:
		record->of.mark.time_ns += run->started_ns;
		break;
	case TP_RECORD_GAP:
		record->of.gap.start_ns += run->started_ns;
		record->of.gap.end_ns += run->started_ns;
		break;
	case TP_RECORD_SPAN:
		record->of.span.start_ns += run->started_ns;
		record->of.span.end_ns += run->started_ns;
		break;
	default:
		break;
	}
}

static void add(struct record_list *list, struct tp_record record)
{
	TP_ARRAY_PUSH(list->items, list->n, list->capacity) = record;
}

#define ADD_ALL(kind_, field, items_, count)                                                       \
	for (size_t i_ = 0; i_ < (count) && i_ < OF_EACH_KIND_MAX; i_++)                           \
	add(list, (struct tp_record){.kind = (kind_), .of.field = (items_)[i_]})

bool record_list_load(struct record_list *list, struct tp_trace *t, const char *directory)
{
	struct tp_error err = {0};
	if (tp_store_load(t, directory, &err) != TP_OK) {
		fprintf(stderr, "%s: %s\n", directory, err.text);
		return false;
	}
	ADD_ALL(TP_RECORD_TASK, task, t->tasks, t->n_tasks);
	ADD_ALL(TP_RECORD_TRACK, track, t->tracks, t->n_tracks);
	ADD_ALL(TP_RECORD_SOURCE, source, t->sources, t->n_sources);
	ADD_ALL(TP_RECORD_RUN, run, t->runs, t->n_runs);
	ADD_ALL(TP_RECORD_SAMPLE, sample, t->samples, t->n_samples);
	ADD_ALL(TP_RECORD_SAMPLE, sample, t->leavings, t->n_leavings);
	ADD_ALL(TP_RECORD_GAUGE, gauge, t->gauges, t->n_gauges);
	ADD_ALL(TP_RECORD_MARK, mark, t->marks, t->n_marks);
	ADD_ALL(TP_RECORD_GAP, gap, t->gaps, t->n_gaps);
	for (size_t track = 0; track < t->n_tracks; track++)
		ADD_ALL(TP_RECORD_SPAN, span, t->spans[track].items, t->spans[track].n);
	for (size_t i = 0; i < list->n; i++)
		to_clock(&list->items[i], &t->run);
	return true;
}

/* ---- changes -------------------------------------------------------------------------------- */

struct field {
	enum tp_record_kind kind;
	size_t offset;
	size_t size;
	bool is_double;
};

#define FIELD(kind, part, member)                                                                  \
	{                                                                                          \
		TP_RECORD_##kind, offsetof(struct tp_record, of.part.member),                      \
			sizeof(((struct tp_record *)0)->of.part.member), false                     \
	}

static const struct field fields[] = {
	FIELD(TASK, task, id),
	FIELD(TASK, task, tid),
	FIELD(TASK, task, pid),
	FIELD(TASK, task, parent),
	FIELD(TASK, task, start_ns),
	FIELD(TASK, task, end_ns),
	FIELD(TASK, task, exec_ns),
	FIELD(TASK, task, comm),
	FIELD(TASK, task, exe),
	FIELD(TASK, task, utime_ns),
	FIELD(TASK, task, stime_ns),
	FIELD(RUN, run, task),
	FIELD(RUN, run, cpu),
	FIELD(RUN, run, start_ns),
	FIELD(RUN, run, end_ns),
	FIELD(RUN, run, how),
	FIELD(SAMPLE, sample, task),
	FIELD(SAMPLE, sample, state),
	FIELD(SAMPLE, sample, cause),
	FIELD(SAMPLE, sample, flags),
	FIELD(SAMPLE, sample, stack),
	FIELD(SAMPLE, sample, target),
	FIELD(SAMPLE, sample, syscall),
	FIELD(SAMPLE, sample, time_ns),
	FIELD(SAMPLE, sample, address),
	FIELD(GAUGE, gauge, metric),
	FIELD(GAUGE, gauge, task),
	FIELD(GAUGE, gauge, time_ns),
	{TP_RECORD_GAUGE, offsetof(struct tp_record, of.gauge.value), sizeof(double), true},
	FIELD(MARK, mark, task),
	FIELD(MARK, mark, kind),
	FIELD(MARK, mark, name),
	FIELD(MARK, mark, time_ns),
	FIELD(MARK, mark, value),
	FIELD(GAP, gap, source),
	FIELD(GAP, gap, reason),
	FIELD(GAP, gap, start_ns),
	FIELD(GAP, gap, end_ns),
	FIELD(GAP, gap, n_lost),
	FIELD(SOURCE, source, name),
	FIELD(SOURCE, source, presence),
	FIELD(SOURCE, source, n_records),
	FIELD(SOURCE, source, n_lost),
	FIELD(TRACK, track, id),
	FIELD(TRACK, track, rank),
	FIELD(TRACK, track, device),
	FIELD(TRACK, track, number),
	FIELD(TRACK, track, task_plus_1),
	FIELD(SPAN, span, start_ns),
	FIELD(SPAN, span, end_ns),
	FIELD(SPAN, span, name),
	FIELD(SPAN, span, link),
	FIELD(SPAN, span, detail),
	FIELD(SPAN, span, track),
	FIELD(SPAN, span, kind),
};

enum { N_FIELDS = sizeof(fields) / sizeof(fields[0]) };

static uint64_t odd_number(uint64_t before, uint64_t *state)
{
	static const uint64_t numbers[] = {0,          1,          2,
					   UINT32_MAX, UINT64_MAX, INT64_MAX,
					   INT32_MAX,  1 << 15,    UINT64_C(1) << 53,
					   1000000000, 255,        UINT64_C(1) << 62};
	switch (random_below(state, 6)) {
	case 0:
		return before + random_below(state, 3) - 1;
	case 1:
		return before / 2;
	case 2:
		return before * 2;
	case 3:
		return random_below(state, 16);
	default:
		return numbers[random_below(state, sizeof(numbers) / sizeof(numbers[0]))];
	}
}

static double odd_double(double before, uint64_t *state)
{
	static const double numbers[] = {0,      -1,  1e18, -1e18, 1e300, INFINITY, NAN,
					 1e-300, 0.5, 1e9,  4e15,  -0.0,  1};
	if (random_below(state, 3) == 0)
		return before * (double)((int64_t)random_below(state, 5) - 2);
	return numbers[random_below(state, sizeof(numbers) / sizeof(numbers[0]))];
}

static void change_field(struct tp_record *record, const struct field *field, uint64_t *state)
{
	char *at = (char *)record + field->offset;
	if (field->is_double) {
		double value;
		memcpy(&value, at, sizeof(value));
		value = odd_double(value, state);
		memcpy(at, &value, sizeof(value));
		return;
	}
	uint64_t value = 0;
	memcpy(&value, at, field->size); /* little-endian, like all supported machines */
	value = odd_number(value, state);
	memcpy(at, &value, field->size);
}

static size_t count_kind(const struct tp_record *records, size_t n, enum tp_record_kind kind)
{
	size_t found = 0;
	for (size_t i = 0; i < n; i++)
		found += records[i].kind == kind;
	return found;
}

/* Changes fields of one, of some or of all records of a kind. */
static void change_fields(struct tp_record *records, size_t n, uint64_t *state)
{
	const struct field *field = &fields[random_below(state, N_FIELDS)];
	size_t n_kind = count_kind(records, n, field->kind);
	uint64_t mode = random_below(state, 3);
	size_t chosen = (size_t)random_below(state, n_kind);
	uint64_t same = *state;
	bool is_same = random_below(state, 2);
	for (size_t i = 0, k = 0; i < n; i++) {
		if (records[i].kind != field->kind)
			continue;
		bool is_hit = mode == 0   ? k == chosen
			      : mode == 1 ? random_below(state, 8) == 0
					  : true;
		uint64_t own = same;
		if (is_hit)
			change_field(&records[i], field, is_same ? &own : state);
		k++;
	}
}

/* Texts that a seed's tables may lack, written after them. */
static const char *const more_texts[] = {
	TP_STOP_SOURCE,
	"stopped by a signal",
	"stopped by a signal, process 1",
	"frozen by its control group",
	"the machine was suspended for 99999999999 ms",
	"trainprof itself stood still",
	TP_GAP_SWITCHES_OFF,
	TP_GAP_BETWEEN_WINDOWS,
};

enum { N_MORE_TEXTS = sizeof(more_texts) / sizeof(more_texts[0]) };

static void add_stops(struct record_list *list, const struct tp_trace *trace, uint64_t *state)
{
	for (uint64_t k = 1 + random_below(state, 40); k; k--) {
		uint64_t start_ns = random_below(state, trace->end_ns + 1);
		uint64_t length_ns = random_below(state, trace->end_ns / 8 + 1);
		struct tp_gap gap = {
			.source = (uint32_t)trace->n_strings,
			.reason = (uint32_t)(trace->n_strings + random_below(state, N_MORE_TEXTS)),
			.start_ns = trace->run.started_ns + start_ns,
			.end_ns = trace->run.started_ns + start_ns + length_ns,
		};
		add(list, (struct tp_record){.kind = TP_RECORD_GAP, .of.gap = gap});
	}
}

static void add_records(struct record_list *list, uint64_t *state)
{
	struct tp_record record = {0};
	if (!list->n)
		return;
	for (uint64_t k = 1 + random_below(state, 20); k; k--) {
		const struct field *field = &fields[random_below(state, N_FIELDS)];
		record = list->items[random_below(state, list->n)];
		if (random_below(state, 2))
			record = (struct tp_record){.kind = field->kind};
		for (size_t i = 0; i < N_FIELDS; i++)
			if (fields[i].kind == record.kind && random_below(state, 3) == 0)
				change_field(&record, &fields[i], state);
		add(list, record);
	}
}

/* Drops, repeats or moves records of a kind. */
static void change_order(struct record_list *list, uint64_t *state)
{
	if (!list->n)
		return;
	const struct record_list before = *list;
	enum tp_record_kind kind = list->items[random_below(state, list->n)].kind;
	uint64_t one_of = random_below(state, 2) ? 1 : 1 + random_below(state, 20);
	uint64_t mode = random_below(state, 3);
	*list = (struct record_list){0};
	for (size_t i = 0; i < before.n; i++) {
		bool is_hit = before.items[i].kind == kind && random_below(state, one_of) == 0;
		if (is_hit && mode == 0)
			continue;
		if (is_hit && mode == 1)
			add(list, before.items[random_below(state, before.n)]);
		add(list, before.items[i]);
		if (is_hit && mode == 2) {
			size_t other = (size_t)random_below(state, list->n);
			struct tp_record swap = list->items[other];
			list->items[other] = list->items[list->n - 1];
			list->items[list->n - 1] = swap;
		}
	}
	free(before.items);
}

static void change_job(struct tp_job_place *job, uint64_t *state)
{
	job->launcher = random_below(state, 4) ? "torchrun" : NULL;
	job->rank = (int64_t)odd_number((uint64_t)job->rank, state);
	job->n_ranks = (uint32_t)odd_number(job->n_ranks, state);
	job->local_rank = (int64_t)odd_number((uint64_t)job->local_rank, state);
	job->attempt = (uint32_t)odd_number(job->attempt, state);
}

static void change_run_info(struct tp_run_info *run, uint64_t *state)
{
	switch (random_below(state, 11)) {
	case 0:
		run->started_ns = odd_number(run->started_ns, state);
		break;
	case 1:
		run->ended_ns = odd_number(run->ended_ns, state);
		break;
	case 2:
		run->measure_from_ns = odd_number(run->measure_from_ns, state);
		break;
	case 3:
		run->measure_until_ns = odd_number(run->measure_until_ns, state);
		break;
	case 4:
		run->sample_rate_hz = odd_double(run->sample_rate_hz, state);
		break;
	case 5:
		run->poll_rate_hz = odd_double(run->poll_rate_hz, state);
		break;
	case 6:
		run->host.n_cpus = (uint32_t)odd_number(run->host.n_cpus, state);
		run->host.n_allowed = (uint32_t)odd_number(run->host.n_allowed, state);
		break;
	case 7:
		run->mode = (enum tp_run_mode)random_below(state, TP_N_RUN_MODES);
		break;
	case 8:
		change_job(&run->job, state);
		break;
	case 9:
		run->host.quota_cpus = odd_double(run->host.quota_cpus, state);
		run->host.memory_bytes = odd_number(run->host.memory_bytes, state);
		break;
	default:
		run->n_ranks = (size_t)random_below(state, run->n_ranks + 1);
	}
}

void mutate_records(struct record_list *list, const struct tp_trace *trace, struct tp_run_info *run,
		    uint64_t *state)
{
	for (uint64_t k = 1 + random_below(state, 3); k; k--) {
		uint64_t what = random_below(state, 12);
		if (what < 6)
			change_fields(list->items, list->n, state);
		else if (what < 9)
			change_order(list, state);
		else if (what < 10)
			add_records(list, state);
		else if (what < 11)
			add_stops(list, trace, state);
		else
			change_run_info(run, state);
	}
}

/* ---- writing -------------------------------------------------------------------------------- */

/* Returns a frame, which is changed now and then if `state` is given. */
static struct tp_frame frame_of(const struct tp_trace *t, size_t i, uint64_t *state)
{
	struct tp_frame frame = t->frames[i];
	if (!state || random_below(state, 4))
		return frame;
	frame.kind = (enum tp_frame_kind)random_below(state, TP_N_FRAME_KINDS);
	frame.flags = (uint32_t)odd_number(frame.flags, state);
	frame.line = (uint32_t)odd_number(frame.line, state);
	frame.address = odd_number(frame.address, state);
	frame.function_start = odd_number(frame.function_start, state);
	frame.symbol = (uint32_t)random_below(state, t->n_strings);
	frame.file = (uint32_t)random_below(state, t->n_strings);
	return frame;
}

static struct tp_detail detail_of(const struct tp_trace *t, size_t i, uint64_t *state)
{
	struct tp_detail detail = t->details[i];
	if (!state || random_below(state, 4))
		return detail;
	detail.bytes = odd_number(detail.bytes, state);
	detail.blocks = odd_number(detail.blocks, state);
	detail.threads = (uint32_t)odd_number(detail.threads, state);
	detail.n_ranks = (uint32_t)odd_number(detail.n_ranks, state);
	detail.sequence = (uint32_t)odd_number(detail.sequence, state);
	return detail;
}

static void write_tables(struct tp_sink *sink, const struct tp_trace *t, uint64_t *state)
{
	for (size_t i = 1; i < t->n_strings; i++)
		(void)tp_sink_string(sink, t->strings[i]);
	for (size_t i = 0; i < N_MORE_TEXTS; i++)
		(void)tp_sink_string(sink, more_texts[i]);
	for (size_t i = 1; i < t->n_frames; i++) {
		struct tp_frame frame = frame_of(t, i, state);
		(void)tp_sink_frame(sink, &frame);
	}
	for (size_t i = 1; i < t->n_stacks; i++) {
		const struct tp_stack *stack = &t->stacks[i];
		(void)tp_sink_stack(sink, stack->frames, stack->n_frames, stack->flags);
	}
	for (size_t i = 1; i < t->n_details; i++) {
		struct tp_detail detail = detail_of(t, i, state);
		(void)tp_sink_detail(sink, &detail);
	}
}

bool record_list_write(const struct record_list *list, const struct tp_trace *trace,
		       const struct tp_run_info *run, uint64_t tables, const char *directory)
{
	struct tp_store *store;
	struct tp_error err = {0};
	if (tp_store_create(&store, directory, run, UINT64_C(1) << 30, &err) != TP_OK) {
		fprintf(stderr, "%s\n", err.text);
		return false;
	}
	struct tp_sink *sink = tp_store_sink(store);
	write_tables(sink, trace, tables ? &tables : NULL);
	for (size_t i = 0; i < list->n; i++)
		sink->type->put(sink, &list->items[i]);
	if (tp_store_finish(store, run, &err) != TP_OK)
		fprintf(stderr, "%s\n", err.text);
	return true;
}
