/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a list of events into lanes, and assigns each lane its role when all names are known.
 *
 * Times are exact: an end is the sum of start and length in whole nanoseconds, and these makers
 * write whole starts.
 */
#include "lane_roles.h"

#include "import/json/json_scan.h"
#include "import/json/trace_event.h"
#include "import/reader/span_store.h"
#include "import/reader/thread_map.h"

#include "trainprof/base/arena.h"
#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { OPEN_MAX = 1 << 16 }; /* events begun and not ended, in one lane */

/* ---- events ---- */

static struct tp_lane_state *lane_of(struct tp_lanes_reader *reader,
				     const struct tp_trace_event *event, struct tp_thread **thread)
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
			(struct tp_lane_state){0};
	return &reader->lanes[index];
}

static struct tp_lane_name name_keep(struct tp_lanes_reader *reader,
				     const struct tp_json_slice *args)
{
	struct tp_json_slice name = tp_json_slice_find(args, "name");
	struct tp_lane_name kept;
	const char *text = tp_json_slice_text(&name, &reader->scratch, &kept.len);
	/* A copy ends at the first NUL, and a file may contain one. */
	kept.len = strnlen(text, kept.len);
	kept.text = tp_arena_strndup(&reader->arena, text, kept.len);
	return kept;
}

static void read_metadata(struct tp_lanes_reader *reader, const struct tp_trace_event *event)
{
	struct tp_thread *thread;
	bool is_process = TP_JSON_SLICE_IS(&event->name, "process_name");
	if (!is_process && !TP_JSON_SLICE_IS(&event->name, "thread_name"))
		return;
	struct tp_lane_state *lane = lane_of(reader, event, &thread);
	if (!lane)
		return;
	struct tp_lane_name name = name_keep(reader, &event->args);
	if (!is_process) {
		lane->thread = name;
		tp_lane_roles_renamed(lane);
		return;
	}
	for (size_t i = 0; i < reader->n_lanes; i++)
		if (reader->threads.items[i].pid == thread->pid)
			tp_lane_roles_renamed(&reader->lanes[i]);
	tp_map_set(&reader->processes, (uint64_t)thread->pid, reader->n_names);
	TP_ARRAY_PUSH(reader->names, reader->n_names, reader->names_capacity) = name;
}

static const struct tp_lane_event_row left_out = {.kind = TP_LANE_EVENT_LEFT_OUT};
static const struct tp_lane_event_row by_lane = {.kind = TP_LANE_EVENT_DEFAULT};
static const struct tp_json_slice no_args[TP_TRACE_EVENT_ARGS_MAX];

static bool is_key(const struct tp_json_slice *key, const char *name)
{
	return strlen(name) == key->len && memcmp(key->text, name, key->len) == 0;
}

/* Returns the place of an argument, plus one; that of the link is behind the others. */
static uint8_t arg_find(const void *self, const struct tp_json_slice *key)
{
	const struct tp_lane_dialect *dialect = self;
	for (uint8_t i = 0; i < TP_LANE_ARGS_MAX && dialect->args[i]; i++)
		if (is_key(key, dialect->args[i]))
			return i + 1;
	return dialect->link && is_key(key, dialect->link) ? TP_LANE_ARGS_MAX + 1 : 0;
}

/* An argument may be wanted as the link, too. */
static size_t link_place(const struct tp_lane_dialect *dialect)
{
	for (size_t i = 0; dialect->link && i < TP_LANE_ARGS_MAX && dialect->args[i]; i++)
		if (strcmp(dialect->args[i], dialect->link) == 0)
			return i;
	return TP_LANE_ARGS_MAX;
}

_Static_assert(TP_LANE_ARGS_MAX + 1 <= TP_TRACE_EVENT_ARGS_MAX,
	       "an event has room for the arguments of a dialect");

static uint64_t *rows_of(struct tp_lanes_reader *reader, unsigned place, char letter)
{
	return &reader->rows_by_letter[place][(unsigned char)letter % TP_LANE_LETTERS];
}

/* Most patterns begin with another letter than the text: those are not tried. */
static void rows_index(struct tp_lanes_reader *reader)
{
	assert(reader->dialect->n_events <= 64); /* a bit each */
	for (size_t i = 0; i < reader->dialect->n_events; i++) {
		const struct tp_lane_event_row *row = &reader->dialect->events[i];
		bool is_any = *row->text == '*' || *row->text == '%';
		for (unsigned letter = 0; is_any && letter < TP_LANE_LETTERS; letter++)
			*rows_of(reader, row->place, (char)letter) |= UINT64_C(1) << i;
		*rows_of(reader, row->place, *row->text) |= UINT64_C(1) << i;
	}
}

static const struct tp_json_slice *text_in(const struct tp_trace_event *event,
					   const struct tp_json_slice *args, unsigned place)
{
	return place == TP_LANE_EVENT_NAME       ? &event->name
	       : place == TP_LANE_EVENT_CATEGORY ? &event->cat
						 : &args[place - TP_LANE_EVENT_ARG];
}

static uint64_t rows_at(struct tp_lanes_reader *reader, unsigned place,
			const struct tp_json_slice *text)
{
	return text->len ? *rows_of(reader, place, *text->text) : 0;
}

/* `found` has a bit for each argument that the event has. */
static const struct tp_lane_event_row *event_find(struct tp_lanes_reader *reader,
						  const struct tp_trace_event *event,
						  const struct tp_json_slice *args, unsigned found)
{
	const struct tp_lane_dialect *dialect = reader->dialect;
	uint64_t rows = rows_at(reader, TP_LANE_EVENT_NAME, &event->name) |
			rows_at(reader, TP_LANE_EVENT_CATEGORY, &event->cat);
	for (found &= (1U << TP_LANE_ARGS_MAX) - 1; found; found &= found - 1) {
		unsigned arg = (unsigned)__builtin_ctz(found);
		rows |= rows_at(reader, TP_LANE_EVENT_ARG + arg, &args[arg]);
	}
	for (; rows; rows &= rows - 1) {
		const struct tp_lane_event_row *row = &dialect->events[__builtin_ctzll(rows)];
		const struct tp_json_slice *text = text_in(event, args, row->place);
		if (text->len && tp_text_pattern_match(row->text, text->text, text->len, NULL))
			return row;
	}
	return args[0].len && dialect->arg_decides ? &left_out : &by_lane;
}

static uint32_t name_of(struct tp_lanes_reader *reader, const struct tp_json_slice *name)
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

static uint32_t name_by(struct tp_lanes_reader *reader, const struct tp_trace_event *event,
			const struct tp_json_slice *args, const struct tp_lane_event_row *row)
{
	const struct tp_lane_dialect *dialect = reader->dialect;
	uint32_t name = 0;
	if (row->name)
		return tp_rank_writer_string(reader->writer, row->name, strlen(row->name));
	if (dialect->name)
		name = dialect->name(reader->writer, row->kind, &event->name, args);
	return name ? name : name_of(reader, &event->name);
}

static void keep_span(struct tp_lanes_reader *reader, const struct tp_trace_event *event,
		      const struct tp_json_slice *args, struct tp_lane_state *lane,
		      struct tp_span *span)
{
	const struct tp_lane_dialect *dialect = reader->dialect;
	span->link = (uint32_t)tp_json_slice_count(&args[reader->link_place], UINT32_MAX);
	if (dialect->detail && !event->cat.len)
		span->detail = dialect->detail(reader->writer, &event->name, &event->args);
	span->track = (uint16_t)(lane - reader->lanes);
	lane->n_events++;
	if (tp_lane_roles_pass(reader, lane, span))
		return;
	TP_ARRAY_PUSH(reader->spans.items, reader->spans.n, reader->spans.capacity) = *span;
}

/* Traces of two tools may have been put into one file. */
static bool is_of_kineto(struct tp_lanes_reader *reader, const struct tp_trace_event *event)
{
	return reader->dialect->lacks_kineto && event->cat.len &&
	       tp_category_find(&reader->categories, event->cat.text, event->cat.len).use !=
		       TP_CATEGORY_UNKNOWN;
}

static void read_complete(struct tp_lanes_reader *reader, const struct tp_trace_event *event)
{
	struct tp_thread *thread;
	uint64_t length_ns;
	const struct tp_json_slice *args = reader->events.args;
	if (is_of_kineto(reader, event)) {
		tp_rank_writer_skip(reader->writer, "an event of torch.profiler's");
		return;
	}
	const struct tp_lane_event_row *row =
		event_find(reader, event, args, reader->events.args_found);
	struct tp_span span = {.kind = row->kind};
	struct tp_lane_state *lane = lane_of(reader, event, &thread);
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
	span.name = name_by(reader, event, args, row);
	keep_span(reader, event, args, lane, &span);
}

/* Tools that trainprof does not know may write begins and ends: the innermost one ends first. */
static void read_begin(struct tp_lanes_reader *reader, const struct tp_trace_event *event)
{
	struct tp_thread *thread;
	const struct tp_lane_event_row *row = event_find(reader, event, no_args, 0);
	struct tp_open_event open = {.category.kind = row->kind};
	struct tp_lane_state *lane = lane_of(reader, event, &thread);
	if (!lane)
		return;
	if (!tp_json_slice_time_ns(&event->ts, &open.start_ns) || thread->n_open == OPEN_MAX) {
		tp_rank_writer_skip(reader->writer, "a begin without a time that makes sense");
		return;
	}
	open.name = name_by(reader, event, no_args, row);
	TP_ARRAY_PUSH(thread->open, thread->n_open, thread->open_capacity) = open;
}

static void read_end(struct tp_lanes_reader *reader, const struct tp_trace_event *event)
{
	struct tp_thread *thread;
	struct tp_span span = {0};
	struct tp_lane_state *lane = lane_of(reader, event, &thread);
	if (!lane)
		return;
	if (!thread->n_open) {
		tp_rank_writer_skip(reader->writer, "an end without a begin");
		return;
	}
	const struct tp_open_event open = thread->open[--thread->n_open];
	span.start_ns = open.start_ns;
	span.name = open.name;
	span.kind = open.category.kind;
	if (!tp_json_slice_time_ns(&event->ts, &span.end_ns) || span.end_ns < span.start_ns)
		tp_rank_writer_skip(reader->writer, "an end without a time that makes sense");
	else
		keep_span(reader, event, no_args, lane, &span);
}

static void read_event(struct tp_lanes_reader *reader, const struct tp_trace_event *event)
{
	char phase = tp_trace_event_phase(event);
	reader->info->n_events++;
	if (reader->events.is_malformed)
		tp_rank_writer_skip(reader->writer, "a malformed event");
	else if (phase == 'M')
		read_metadata(reader, event);
	else if (phase == 'X')
		read_complete(reader, event);
	else if (reader->named_lanes && phase == 'B')
		read_begin(reader, event);
	else if (reader->named_lanes && phase == 'E')
		read_end(reader, event);
}

static void read_all(struct tp_lanes_reader *reader, struct tp_json_scan *scan)
{
	for (;;) {
		struct tp_json_slice key;
		struct tp_json_slice value;
		struct tp_trace_event event;
		enum tp_json_scan_item item =
			tp_trace_event_next(&event, &reader->events, scan, &key, &value);
		if (item == TP_JSON_SCAN_END)
			return;
		if (item == TP_JSON_SCAN_EVENT)
			read_event(reader, &event);
		else if (item != TP_JSON_SCAN_MEMBER)
			tp_rank_writer_skip(reader->writer, "an entry that is no event");
	}
}

/* ---- the whole trace ---- */

static void reader_release(struct tp_lanes_reader *reader)
{
	tp_thread_map_release(&reader->threads);
	tp_map_release(&reader->processes);
	tp_map_release(&reader->devices);
	tp_arena_release(&reader->arena);
	tp_span_store_release(&reader->spans);
	tp_span_store_release(&reader->cores);
	tp_buf_release(&reader->scratch);
	tp_trace_event_reader_release(&reader->events);
	free(reader->lanes);
	free(reader->names);
}

static enum tp_status fail_empty(const struct tp_lanes_reader *reader,
				 const struct tp_import_source *source, struct tp_error *err)
{
	const char *name = source->member ? source->member : source->path;
	if (reader->named_lanes) {
		(void)tp_fail(err, TP_PARSE, "'%s': no lane with events fits '%s'", name,
			      reader->named_lanes);
		tp_error_next_word(err, "trainprof import ", source->path,
				   "   (prints the largest lanes)");
		return TP_PARSE;
	}
	const char *why = reader->info->skipped_because;
	if (!why)
		why = reader->info->is_cut
			      ? "it was cut, and no lane before that is of a device or a thread"
			      : "no lane is of a device or a thread";
	return tp_fail(err, TP_PARSE, "'%s': none of its %llu events is of use: %s", name,
		       (unsigned long long)reader->info->n_events, why);
}

enum tp_status tp_lanes_read(const struct tp_lane_dialect *dialect, struct tp_import_reader *import,
			     const struct tp_import_source *source, struct tp_error *err)
{
	struct tp_json_scan scan;
	struct tp_lanes_reader reader = {.dialect = dialect,
					 .writer = tp_rank_writer_begin(import)};
	enum tp_status status = TP_OK;
	if (!reader.writer)
		return tp_fail(err, TP_PARSE, "more than %d ranks", TP_RANKS_MAX);
	reader.info = tp_rank_info(reader.writer);
	reader.events.wanted = (struct tp_json_fields){arg_find, dialect};
	reader.events.n_wanted = dialect->args[0] ? TP_LANE_ARGS_MAX + 1 : 0;
	rows_index(&reader);
	if (dialect->has_named_lanes)
		reader.named_lanes = tp_import_options(import)->device_lane;
	reader.link_place = link_place(dialect);
	tp_thread_map_init(&reader.threads, reader.writer);
	tp_json_scan_init(&scan, source->stream);
	read_all(&reader, &scan);
	tp_lane_roles_find(&reader);
	tp_lane_roles_apply(&reader);
	tp_span_store_emit(&reader.spans, reader.writer, tp_import_options(import)->keeps_python);
	tp_lane_roles_emit_cores(&reader);
	reader.info->is_cut = scan.is_cut;
	if (dialect->complete)
		dialect->complete(reader.writer, source);
	if (!reader.info->n_kept)
		status = fail_empty(&reader, source, err);
	tp_json_scan_release(&scan);
	tp_rank_writer_end(reader.writer, false);
	reader_release(&reader);
	return status;
}
