/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a list of events into lanes, and assigns each lane its role when all names are known.
 *
 * Times are exact: an end is the sum of start and length in whole nanoseconds, and these makers
 * write whole starts.
 */
#include "lanes.h"

#include "import/json/json_scan.h"
#include "import/json/trace_event.h"
#include "import/reader/self_time.h"
#include "import/reader/span_store.h"
#include "import/reader/thread_map.h"

#include "trainprof/base/arena.h"
#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

struct lane_name {
	const char *text; /* in the arena; NULL = none */
	size_t len;
};

/* One for each thread of the map. */
struct lane_state {
	struct lane_name thread;
	size_t n_events;
	size_t n_untyped;
	const struct tp_lane_row *row; /* NULL = left out */
	int32_t device;
	uint16_t track;
};

struct lanes_reader {
	const struct tp_lane_dialect *dialect;
	struct tp_rank_writer *writer;
	struct tp_rank_info *info;
	struct tp_thread_map threads;
	struct lane_state *lanes; /* heap, by index of threads */
	size_t n_lanes;
	size_t lanes_capacity;
	struct tp_map processes; /* pid -> index into process_names */
	struct lane_name *names; /* of processes; heap */
	size_t n_names;
	size_t names_capacity;
	struct tp_arena arena;
	struct tp_span_store spans; /* `track` is the lane, `kind` as in rows of events */
	struct tp_span_store cores; /* of lanes whose operations contain others */
	struct tp_buf scratch;
	struct tp_trace_event_plain plain;
	size_t arg_lens[TP_LANE_ARGS_MAX]; /* of the dialect's names; 0 = no more */
	size_t link_len;
	bool is_summarised; /* a summary lane represents the computing */
};

/* ---- events ---- */

static struct lane_state *lane_of(struct lanes_reader *reader, const struct tp_trace_event *event,
				  const struct tp_thread **thread)
{
	*thread = tp_thread_map_find(&reader->threads, &event->pid, &event->tid);
	if (!*thread) {
		tp_rank_writer_skip(reader->writer,
				    "more threads and streams than can be distinguished");
		return NULL;
	}
	size_t index = (size_t)(*thread - reader->threads.items);
	while (reader->n_lanes <= index)
		TP_ARRAY_PUSH(reader->lanes, reader->n_lanes, reader->lanes_capacity) =
			(struct lane_state){0};
	return &reader->lanes[index];
}

static struct lane_name name_keep(struct lanes_reader *reader, const struct tp_json_slice *args)
{
	struct tp_json_slice name = tp_json_slice_find(args, "name");
	struct lane_name kept;
	const char *text = tp_json_slice_text(&name, &reader->scratch, &kept.len);
	kept.text = tp_arena_strndup(&reader->arena, text, kept.len);
	return kept;
}

static void read_metadata(struct lanes_reader *reader, const struct tp_trace_event *event)
{
	const struct tp_thread *thread;
	bool is_process = TP_JSON_SLICE_IS(&event->name, "process_name");
	if (!is_process && !TP_JSON_SLICE_IS(&event->name, "thread_name"))
		return;
	struct lane_state *lane = lane_of(reader, event, &thread);
	if (!lane)
		return;
	struct lane_name name = name_keep(reader, &event->args);
	if (!is_process) {
		lane->thread = name;
		return;
	}
	tp_map_set(&reader->processes, (uint64_t)thread->pid, reader->n_names);
	TP_ARRAY_PUSH(reader->names, reader->n_names, reader->names_capacity) = name;
}

static const struct tp_lane_event_row left_out = {.kind = TP_LANE_EVENT_LEFT_OUT};
static const struct tp_lane_event_row by_lane = {.kind = TP_LANE_EVENT_DEFAULT};

/* The arguments that the dialect needs; events with a category are from the host and have none of
 * them. */
struct wanted_args {
	struct tp_json_slice values[TP_LANE_ARGS_MAX];
	struct tp_json_slice link;
};

static bool is_key(const struct tp_json_slice *key, const char *name, size_t len)
{
	return len && key->len == len && memcmp(key->text, name, len) == 0;
}

static void args_read(struct lanes_reader *reader, const struct tp_trace_event *event,
		      struct wanted_args *out)
{
	struct tp_json_slice key;
	struct tp_json_slice value;
	*out = (struct wanted_args){0};
	if (!reader->arg_lens[0] || event->cat.len || event->args.type != TP_JSON_SLICE_OBJECT)
		return;
	struct tp_json_walk walk = tp_json_walk_init(&event->args);
	while (tp_json_walk_next(&walk, &key, &value)) {
		for (size_t i = 0; i < TP_LANE_ARGS_MAX && reader->arg_lens[i]; i++)
			if (is_key(&key, reader->dialect->args[i], reader->arg_lens[i]))
				out->values[i] = value;
		if (is_key(&key, reader->dialect->link, reader->link_len))
			out->link = value;
	}
}

/* Cheap test before the match: most patterns begin with another letter than the text. */
static bool may_fit(const char *pattern, const struct tp_json_slice *text)
{
	return text->len && (*pattern == *text->text || *pattern == '*' || *pattern == '%');
}

static const struct tp_lane_event_row *event_find(const struct lanes_reader *reader,
						  const struct tp_trace_event *event,
						  const struct wanted_args *wanted)
{
	const struct tp_lane_dialect *dialect = reader->dialect;
	for (size_t i = 0; i < dialect->n_events; i++) {
		const struct tp_lane_event_row *row = &dialect->events[i];
		const struct tp_json_slice *text =
			row->place == TP_LANE_EVENT_NAME ? &event->name
			: row->place == TP_LANE_EVENT_CATEGORY
				? &event->cat
				: &wanted->values[row->place - TP_LANE_EVENT_ARG];
		if (may_fit(row->text, text) &&
		    tp_text_pattern_match(row->text, text->text, text->len, NULL))
			return row;
	}
	return wanted->values[0].len && dialect->arg_decides ? &left_out : &by_lane;
}

static uint32_t name_of(struct lanes_reader *reader, const struct tp_json_slice *name)
{
	size_t len;
	const char *text = tp_json_slice_text(name, &reader->scratch, &len);
	const char *mark =
		reader->dialect->name_after ? memchr(text, reader->dialect->name_after, len) : NULL;
	if (mark) {
		len -= (size_t)(mark + 1 - text);
		text = mark + 1;
	}
	return tp_rank_writer_string(reader->writer, text, len);
}

static uint32_t name_by(struct lanes_reader *reader, const struct tp_trace_event *event,
			const struct wanted_args *wanted, const struct tp_lane_event_row *row)
{
	const struct tp_lane_dialect *dialect = reader->dialect;
	uint32_t name = 0;
	if (row->name)
		return tp_rank_writer_string(reader->writer, row->name, strlen(row->name));
	if (dialect->name)
		name = dialect->name(reader->writer, row->kind, &event->name, wanted->values);
	return name ? name : name_of(reader, &event->name);
}

static void keep_span(struct lanes_reader *reader, const struct tp_trace_event *event,
		      const struct wanted_args *wanted, struct lane_state *lane,
		      struct tp_span *span)
{
	const struct tp_lane_dialect *dialect = reader->dialect;
	span->link = (uint32_t)tp_json_slice_count(&wanted->link, UINT32_MAX);
	if (dialect->detail && !event->cat.len)
		span->detail = dialect->detail(reader->writer, &event->name, &event->args);
	span->track = (uint16_t)(lane - reader->lanes);
	lane->n_events++;
	TP_ARRAY_PUSH(reader->spans.items, reader->spans.n, reader->spans.capacity) = *span;
}

static void read_complete(struct lanes_reader *reader, const struct tp_trace_event *event)
{
	const struct tp_thread *thread;
	uint64_t length_ns;
	struct wanted_args wanted;
	args_read(reader, event, &wanted);
	const struct tp_lane_event_row *row = event_find(reader, event, &wanted);
	struct tp_span span = {.kind = row->kind};
	struct lane_state *lane = lane_of(reader, event, &thread);
	if (!lane || span.kind == TP_LANE_EVENT_LEFT_OUT)
		return;
	if (span.kind == TP_LANE_EVENT_UNTYPED) {
		lane->n_untyped++;
		return;
	}
	if (!tp_json_slice_time_ns(&event->ts, &span.start_ns) ||
	    !tp_json_slice_time_ns(&event->dur, &length_ns)) {
		tp_rank_writer_skip(reader->writer, "an event without times that make sense");
		return;
	}
	span.end_ns = span.start_ns + length_ns; /* both are below 2^63 */
	span.name = name_by(reader, event, &wanted, row);
	keep_span(reader, event, &wanted, lane, &span);
}

static void read_event(struct lanes_reader *reader, const struct tp_json_slice *text)
{
	struct tp_trace_event event;
	reader->info->n_events++;
	if (!tp_trace_event_read(&event, text, &reader->plain))
		tp_rank_writer_skip(reader->writer, "a malformed event");
	else if (tp_trace_event_phase(&event) == 'M')
		read_metadata(reader, &event);
	else if (tp_trace_event_phase(&event) == 'X')
		read_complete(reader, &event);
}

static void read_all(struct lanes_reader *reader, struct tp_json_scan *scan)
{
	for (;;) {
		struct tp_json_slice key;
		struct tp_json_slice value;
		enum tp_json_scan_item item = tp_json_scan_next(scan, &key, &value);
		if (item == TP_JSON_SCAN_END)
			return;
		if (item == TP_JSON_SCAN_EVENT)
			read_event(reader, &value);
		else if (item != TP_JSON_SCAN_MEMBER)
			tp_rank_writer_skip(reader->writer, "an entry that is no event");
	}
}

/* ---- roles ---- */

static struct lane_name process_of(const struct lanes_reader *reader, size_t lane)
{
	uint64_t index;
	if (tp_map_get(&reader->processes, (uint64_t)reader->threads.items[lane].pid, &index))
		return reader->names[index];
	return (struct lane_name){0};
}

/* True if a process with that name and device has events. */
static bool has_process(const struct lanes_reader *reader, const char *pattern, int64_t device)
{
	for (size_t i = 0; i < reader->n_lanes; i++) {
		int64_t numbers[TP_PATTERN_NUMBERS] = {0};
		struct lane_name name = process_of(reader, i);
		if (reader->lanes[i].n_events &&
		    tp_text_pattern_match(pattern, name.text, name.len, numbers) &&
		    numbers[0] == device)
			return true;
	}
	return false;
}

static uint16_t thread_track(struct lanes_reader *reader, size_t index)
{
	struct tp_thread *thread = &reader->threads.items[index];
	if (reader->dialect->has_thread_ids && thread->tid >= 0)
		return tp_rank_writer_track(reader->writer, TP_TRACK_THREAD, thread->tid);
	return tp_thread_map_track(&reader->threads, thread);
}

static bool lane_fits(struct lanes_reader *reader, struct lane_state *lane, size_t index,
		      const struct tp_lane_row *row)
{
	int64_t numbers[TP_PATTERN_NUMBERS + TP_PATTERN_NUMBERS] = {0};
	struct lane_name process = process_of(reader, index);
	const struct tp_thread *thread = &reader->threads.items[index];
	int64_t stream = thread->tid >= 0 && thread->tid <= UINT32_MAX ? thread->tid : 0;
	if (!tp_text_pattern_match(row->process, process.text, process.len, numbers))
		return false;
	if (row->thread && !tp_text_pattern_match(row->thread, lane->thread.text, lane->thread.len,
						  &numbers[TP_PATTERN_NUMBERS]))
		return false;
	if (row->unless && has_process(reader, row->unless, numbers[0]))
		return false;
	lane->row = row;
	lane->device = (int32_t)numbers[0];
	if (strchr(row->process, '%') && numbers[1])
		stream = numbers[1];
	else if (row->thread && strchr(row->thread, '%'))
		stream = numbers[TP_PATTERN_NUMBERS];
	lane->track = row->use == TP_LANE_THREAD
			      ? thread_track(reader, index)
			      : tp_rank_writer_track(reader->writer, lane->device,
						     row->first_stream + stream);
	const struct lane_name *name = lane->thread.len ? &lane->thread : &process;
	tp_rank_writer_name_track(reader->writer, lane->track,
				  tp_rank_writer_string(reader->writer, name->text, name->len));
	return true;
}

static void resolve_lanes(struct lanes_reader *reader)
{
	const struct tp_lane_dialect *dialect = reader->dialect;
	for (size_t i = 0; i < reader->n_lanes; i++) {
		struct lane_state *lane = &reader->lanes[i];
		for (size_t r = 0; lane->n_events && !lane->row && r < dialect->n_lanes; r++)
			(void)lane_fits(reader, lane, i, &dialect->lanes[r]);
		bool is_program = dialect->has_thread_ids && lane->row == dialect->lanes;
		if (is_program && !reader->info->pid && reader->threads.items[i].pid > 0 &&
		    reader->threads.items[i].pid <= INT32_MAX)
			reader->info->pid = reader->threads.items[i].pid;
	}
}

/* Chooses the computing of a device: its own work, or the maker's summary of it. */
static void choose_computing(struct lanes_reader *reader)
{
	size_t n_untyped = 0;
	for (size_t i = 0; i < reader->n_lanes; i++)
		n_untyped += reader->lanes[i].n_untyped;
	for (size_t i = 0; i < reader->n_lanes; i++) {
		const struct tp_lane_row *row = reader->lanes[i].row;
		if (!row || row->use != TP_LANE_SUMMARY)
			continue;
		if (n_untyped)
			reader->is_summarised = true;
		else
			reader->lanes[i].row = NULL;
	}
}

static bool span_resolve(const struct lanes_reader *reader, struct tp_span *span)
{
	const struct lane_state *lane = &reader->lanes[span->track];
	if (!lane->row || lane->track == TP_NO_TRACK)
		return false;
	bool is_thread = lane->row->use == TP_LANE_THREAD;
	if (span->kind == TP_LANE_EVENT_THREAD_CALL)
		span->kind = (uint8_t)(is_thread ? TP_SPAN_CALL : TP_LANE_EVENT_DEFAULT);
	else if (span->kind == TP_LANE_EVENT_THREAD_OPERATOR)
		span->kind = (uint8_t)(is_thread ? TP_SPAN_OPERATOR : TP_LANE_EVENT_DEFAULT);
	bool is_typed = span->kind != TP_LANE_EVENT_DEFAULT;
	if (!is_typed)
		span->kind = lane->row->kind;
	if (tp_span_kind_is_device(span->kind) == is_thread)
		return false;
	span->track = lane->track;
	return !is_typed || span->kind != TP_SPAN_KERNEL || !reader->is_summarised;
}

static bool is_dropped_mark(const struct lanes_reader *reader, const struct tp_span *span)
{
	return reader->dialect->drops_instants && span->start_ns == span->end_ns &&
	       !tp_span_kind_is_device(span->kind) && span->kind != TP_SPAN_PYTHON;
}

/* Moves the spans that stay to the front. */
static void resolve_spans(struct lanes_reader *reader)
{
	size_t n = 0;
	for (size_t i = 0; i < reader->spans.n; i++) {
		struct tp_span *span = &reader->spans.items[i];
		bool is_core = reader->lanes[span->track].row &&
			       reader->lanes[span->track].row->use == TP_LANE_CORE;
		if (!span_resolve(reader, span) || is_dropped_mark(reader, span))
			continue;
		if (is_core)
			TP_ARRAY_PUSH(reader->cores.items, reader->cores.n,
				      reader->cores.capacity) = *span;
		else
			reader->spans.items[n++] = *span;
	}
	reader->spans.n = n;
}

/* Emits the self time of operations that contain others, lane by lane. */
static void emit_cores(struct lanes_reader *reader)
{
	struct tp_span_store one = {0};
	for (size_t i = 0; reader->cores.n && i < reader->n_lanes; i++) {
		const struct lane_state *lane = &reader->lanes[i];
		if (!lane->row || lane->row->use != TP_LANE_CORE)
			continue;
		one.n = 0;
		for (size_t k = 0; k < reader->cores.n; k++)
			if (reader->cores.items[k].track == lane->track)
				TP_ARRAY_PUSH(one.items, one.n, one.capacity) =
					reader->cores.items[k];
		tp_self_time_emit(reader->writer, one.items, one.n);
	}
	tp_span_store_release(&one);
}

/* ---- the whole trace ---- */

static void reader_release(struct lanes_reader *reader)
{
	tp_thread_map_release(&reader->threads);
	tp_map_release(&reader->processes);
	tp_arena_release(&reader->arena);
	tp_span_store_release(&reader->spans);
	tp_span_store_release(&reader->cores);
	tp_buf_release(&reader->scratch);
	tp_trace_event_plain_release(&reader->plain);
	free(reader->lanes);
	free(reader->names);
}

enum tp_status tp_lanes_read(const struct tp_lane_dialect *dialect, struct tp_import_reader *import,
			     const struct tp_import_source *source, struct tp_error *err)
{
	struct tp_json_scan scan;
	struct lanes_reader reader = {.dialect = dialect, .writer = tp_rank_writer_begin(import)};
	enum tp_status status = TP_OK;
	if (!reader.writer)
		return tp_fail(err, TP_PARSE, "more than %d ranks", TP_RANKS_MAX);
	reader.info = tp_rank_info(reader.writer);
	for (size_t i = 0; i < TP_LANE_ARGS_MAX && dialect->args[i]; i++)
		reader.arg_lens[i] = strlen(dialect->args[i]);
	reader.link_len = dialect->link ? strlen(dialect->link) : 0;
	tp_thread_map_init(&reader.threads, reader.writer);
	tp_json_scan_init(&scan, source->stream);
	read_all(&reader, &scan);
	resolve_lanes(&reader);
	choose_computing(&reader);
	resolve_spans(&reader);
	tp_span_store_emit(&reader.spans, reader.writer, tp_import_options(import)->keeps_python);
	emit_cores(&reader);
	reader.info->is_cut = scan.is_cut;
	if (dialect->complete)
		dialect->complete(reader.writer, source);
	if (!reader.info->n_kept)
		status = tp_fail(err, TP_PARSE, "'%s': none of its %llu events is of use: %s",
				 source->member ? source->member : source->path,
				 (unsigned long long)reader.info->n_events,
				 reader.info->skipped_because
					 ? reader.info->skipped_because
					 : "no lane is of a device or a thread");
	tp_json_scan_release(&scan);
	tp_rank_writer_end(reader.writer, false);
	reader_release(&reader);
	return status;
}
