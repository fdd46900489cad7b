/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads traces of the PyTorch profiler (Kineto): events become spans of one rank. From Chrome JSON
 * of other makers only the lanes are kept, for display: the rank's format is "unknown".
 *
 * Formats: Google's "Trace Event Format" and pytorch/kineto, libkineto/src/output_json.cpp, both
 * read 2026-11-22. Times are microseconds whatever displayTimeUnit is. baseTimeNanoseconds, which
 * some versions have subtracted from all times, is not added: it is the same for all ranks of a job
 * (the beginning of a quarter), and it comes after the events.
 */
#include "import/json/json_scan.h"
#include "import/json/trace_event.h"
#include "import/json/trace_maker.h"
#include "import/reader/category.h"
#include "import/reader/importer.h"
#include "import/reader/thread_map.h"
#include "kineto_job.h"
#include "op_args.h"
#include "stream_tracks.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
	MAX_OPEN = 1 << 20,     /* events begun and not ended, over all threads */
	MAX_PENDING = 64 << 10, /* events of unknown categories, until the kind is known */
};

/* Links of the trace are below it; links for correlations that are not such numbers are counted
 * from it. */
static const uint32_t FIRST_NEW_LINK = UINT32_C(1) << 31;

/* Kineto's own traces name categories. The exports of torch.autograd's profiler, which have no
 * categories, contain operators. In other traces every event with a length is a range, which only
 * shows the lanes. */
enum trace_kind { TRACE_KIND_UNKNOWN, TRACE_KIND_KINETO, TRACE_KIND_AUTOGRAD, TRACE_KIND_OTHER };

struct kineto_reader {
	struct tp_rank_writer *writer;
	struct tp_rank_info *info;
	bool keeps_python;
	bool has_lost_work; /* of a device */
	enum trace_kind trace_kind;
	const struct tp_trace_maker *maker; /* not Kineto; NULL = no other mark was found */
	struct tp_thread_map threads;
	struct tp_category_cache categories;
	struct tp_stream_tracks streams;
	struct tp_map made_links;
	size_t n_open;
	struct tp_map process_names; /* pid -> name, for the lanes of tools that are not known */
	struct tp_span *pending;     /* spans of unknown categories, until the kind is known */
	size_t n_pending;
	size_t pending_capacity;
	struct tp_buf scratch;
	struct tp_trace_event_reader events;
};

/* ---- members of events ---- */

static uint32_t name_of(struct kineto_reader *reader, const struct tp_json_slice *piece)
{
	size_t len;
	const char *text = tp_json_slice_text(piece, &reader->scratch, &len);
	return tp_rank_writer_string(reader->writer, text, len);
}

/* Returns the link between a call and the work it launched. Correlations of 0 and below mean no
 * link. */
static uint32_t link_of(struct kineto_reader *reader, const struct tp_json_slice *correlation)
{
	int64_t number = 0;
	bool is_number = tp_json_slice_integer(correlation, &number);
	if (!correlation->len || (is_number && number <= 0))
		return 0;
	if (is_number && number < FIRST_NEW_LINK)
		return (uint32_t)number;
	uint64_t key =
		is_number ? (uint64_t)number : tp_hash_bytes(correlation->text, correlation->len);
	uint64_t link;
	if (tp_map_get(&reader->made_links, key, &link))
		return (uint32_t)link;
	if (reader->made_links.n >= UINT32_MAX - FIRST_NEW_LINK)
		return 0;
	link = FIRST_NEW_LINK + reader->made_links.n;
	tp_map_set(&reader->made_links, key, link);
	return (uint32_t)link;
}

/* ---- spans of devices ---- */

/* Returns the number in "stream 7", which early versions have for tid; -1 if there is none. */
static int64_t number_in(const struct tp_json_slice *text)
{
	size_t n = text->len;
	if (!n)
		return -1;
	while (n > 0 && text->text[n - 1] >= '0' && text->text[n - 1] <= '9')
		n--;
	struct tp_json_slice digits = {text->text + n, text->len - n, TP_JSON_SLICE_WORD, false};
	int64_t number = -1;
	(void)tp_json_slice_integer(&digits, &number);
	return number;
}

static void add_device_span(struct kineto_reader *reader, const struct tp_trace_event *event,
			    struct tp_span *span)
{
	struct tp_op_args args;
	int64_t device;
	int64_t stream;
	tp_op_args_read(&args, &event->args);
	if (!tp_json_slice_integer(&args.device, &device) &&
	    !tp_json_slice_integer(&event->pid, &device)) {
		tp_rank_writer_skip(reader->writer,
				    "work of a device without the number of the device");
		return;
	}
	if (device < 0 || device > INT32_MAX) {
		tp_rank_writer_skip(reader->writer, "work of a device whose number makes no sense");
		return;
	}
	if (!tp_json_slice_integer(&args.stream, &stream) &&
	    !tp_json_slice_integer(&event->tid, &stream))
		stream = number_in(&event->tid);
	span->track = tp_stream_track(&reader->streams, reader->writer, (int32_t)device, stream);
	span->link = link_of(reader, &args.correlation);
	span->detail = tp_op_args_detail(&args, reader->writer, &reader->scratch);
	tp_rank_writer_span(reader->writer, span);
}

/* ---- spans of threads ---- */

static struct tp_thread *thread_of(struct kineto_reader *reader, const struct tp_trace_event *event)
{
	struct tp_thread *thread = tp_thread_map_find(&reader->threads, &event->pid, &event->tid);
	if (!thread)
		tp_rank_writer_skip(reader->writer,
				    "more threads and streams than can be distinguished");
	return thread;
}

static void add_thread_span(struct kineto_reader *reader, const struct tp_trace_event *event,
			    struct tp_span *span)
{
	struct tp_thread *thread = thread_of(reader, event);
	if (!thread)
		return;
	span->track = tp_thread_map_track(&reader->threads, thread);
	thread->n_spans++;
	if (span->kind == TP_SPAN_CALL) {
		struct tp_json_slice correlation = tp_json_slice_find(&event->args, "correlation");
		span->link = link_of(reader, &correlation);
	}
	tp_rank_writer_span(reader->writer, span);
}

/* Most events of a trace with stacks are Python functions; those inside others are left out. */
static bool is_top_level(const struct tp_trace_event *event)
{
	struct tp_json_slice parent = tp_json_slice_find(&event->args, "Python parent id");
	return parent.type == TP_JSON_SLICE_NONE || TP_JSON_SLICE_IS(&parent, "null");
}

/* ---- kind of the trace ---- */

static void pending_drop(struct kineto_reader *reader)
{
	free(reader->pending);
	reader->pending = NULL;
	reader->n_pending = 0;
	reader->pending_capacity = 0;
}

static void set_trace_kind(struct kineto_reader *reader, enum trace_kind trace_kind)
{
	if (reader->trace_kind != TRACE_KIND_UNKNOWN)
		return;
	reader->trace_kind = trace_kind;
	for (size_t i = 0; trace_kind != TRACE_KIND_KINETO && i < reader->n_pending; i++) {
		if (trace_kind == TRACE_KIND_AUTOGRAD)
			reader->pending[i].kind = TP_SPAN_OPERATOR;
		tp_rank_writer_span(reader->writer, &reader->pending[i]);
	}
	pending_drop(reader);
}

/* torch.autograd's profiler writes operators as "CPU functions". */
static bool is_plain_operator(const struct tp_trace_event *event)
{
	return !event->cat.len &&
	       (TP_JSON_SLICE_IS(&event->pid, "CPU functions") ||
		(event->name.len > 6 && memcmp(event->name.text, "aten::", 6) == 0));
}

/* Searches for marks of other makers in texts that Kineto does not write. */
static void find_maker(struct kineto_reader *reader, enum tp_trace_mark_place place,
		       const struct tp_json_slice *text)
{
	if (!reader->maker)
		reader->maker = tp_trace_maker_find(place, text);
}

/* Adds an event of a category that Kineto does not have: a range, unless the trace proves to be
 * Kineto's. */
static void add_unknown(struct kineto_reader *reader, const struct tp_trace_event *event,
			struct tp_span *span)
{
	if (reader->trace_kind == TRACE_KIND_KINETO)
		return; /* begun before that was known */
	/* Device time attributed to the operator that launched it: not a time on the device. */
	if (!event->cat.len && TP_JSON_SLICE_IS(&event->pid, "CUDA functions")) {
		reader->has_lost_work = true;
		return;
	}
	struct tp_thread *thread = thread_of(reader, event);
	if (!thread)
		return;
	if (is_plain_operator(event))
		set_trace_kind(reader, TRACE_KIND_AUTOGRAD);
	span->kind =
		reader->trace_kind == TRACE_KIND_AUTOGRAD ? TP_SPAN_OPERATOR : TP_SPAN_ANNOTATION;
	span->track = tp_thread_map_track(&reader->threads, thread);
	thread->n_spans++;
	if (reader->trace_kind == TRACE_KIND_UNKNOWN && reader->n_pending == MAX_PENDING)
		set_trace_kind(reader, TRACE_KIND_OTHER);
	if (reader->trace_kind != TRACE_KIND_UNKNOWN)
		tp_rank_writer_span(reader->writer, span);
	else
		TP_ARRAY_PUSH(reader->pending, reader->n_pending, reader->pending_capacity) = *span;
}

/* Returns true if the event becomes a span, and its category. */
static bool is_kept(struct kineto_reader *reader, const struct tp_trace_event *event,
		    struct tp_category *category)
{
	*category = tp_category_find(&reader->categories, event->cat.text, event->cat.len);
	if (category->use == TP_CATEGORY_UNKNOWN) {
		find_maker(reader, event->cat.len ? TP_MARK_CATEGORY : TP_MARK_NAME,
			   event->cat.len ? &event->cat : &event->name);
		return reader->trace_kind != TRACE_KIND_KINETO;
	}
	if (category->use == TP_CATEGORY_LEFT_OUT)
		return false;
	set_trace_kind(reader, TRACE_KIND_KINETO);
	return category->kind != TP_SPAN_PYTHON || reader->keeps_python || is_top_level(event);
}

/* ---- phases ---- */

static void add_span(struct kineto_reader *reader, const struct tp_trace_event *event,
		     const struct tp_category *category, struct tp_span *span)
{
	span->kind = category->kind;
	if (category->use == TP_CATEGORY_UNKNOWN)
		add_unknown(reader, event, span);
	else if (tp_span_kind_is_device(span->kind))
		add_device_span(reader, event, span);
	else
		add_thread_span(reader, event, span);
}

static void read_complete(struct kineto_reader *reader, const struct tp_trace_event *event)
{
	struct tp_category category;
	struct tp_span span = {0};
	uint64_t duration_ns;
	if (!is_kept(reader, event, &category))
		return;
	if (!tp_json_slice_time_ns(&event->ts, &span.start_ns)) {
		tp_rank_writer_skip(reader->writer, "an event without a time that makes sense");
		return;
	}
	if (!tp_json_slice_time_ns(&event->dur, &duration_ns)) {
		tp_rank_writer_skip(reader->writer, "an event without a length that makes sense");
		return;
	}
	span.end_ns = span.start_ns + duration_ns; /* both are below 2^63 */
	span.name = name_of(reader, &event->name);
	add_span(reader, event, &category, &span);
}

static void read_begin(struct kineto_reader *reader, const struct tp_trace_event *event)
{
	struct tp_category category;
	struct tp_open_event open = {.is_kept = is_kept(reader, event, &category)};
	struct tp_thread *thread = thread_of(reader, event);
	if (!thread)
		return;
	if (!tp_json_slice_time_ns(&event->ts, &open.start_ns) || reader->n_open == MAX_OPEN) {
		tp_rank_writer_skip(reader->writer, "a begin without a time that makes sense");
		return;
	}
	open.name = name_of(reader, &event->name);
	open.category = category;
	TP_ARRAY_PUSH(thread->open, thread->n_open, thread->open_capacity) = open;
	reader->n_open++;
}

static void read_end(struct kineto_reader *reader, const struct tp_trace_event *event)
{
	struct tp_span span = {0};
	struct tp_thread *thread = thread_of(reader, event);
	if (!thread)
		return;
	if (!thread->n_open) {
		tp_rank_writer_skip(reader->writer, "an end without a begin");
		return;
	}
	const struct tp_open_event open = thread->open[--thread->n_open];
	reader->n_open--;
	if (!open.is_kept)
		return;
	span.start_ns = open.start_ns;
	span.name = open.name;
	if (!tp_json_slice_time_ns(&event->ts, &span.end_ns) || span.end_ns < span.start_ns) {
		tp_rank_writer_skip(reader->writer, "an end without a time that makes sense");
		return;
	}
	add_span(reader, event, &open.category, &span);
}

static void read_metadata(struct kineto_reader *reader, const struct tp_trace_event *event)
{
	bool is_label = TP_JSON_SLICE_IS(&event->name, "process_labels");
	if (is_label || TP_JSON_SLICE_IS(&event->name, "process_name")) {
		struct tp_json_slice process =
			tp_json_slice_find(&event->args, is_label ? "labels" : "name");
		find_maker(reader, TP_MARK_PROCESS, &process);
		int64_t pid;
		if (!is_label && tp_json_slice_integer(&event->pid, &pid))
			tp_map_set(&reader->process_names, (uint64_t)pid,
				   name_of(reader, &process));
		return;
	}
	if (!TP_JSON_SLICE_IS(&event->name, "thread_name"))
		return;
	struct tp_json_slice name = tp_json_slice_find(&event->args, "name");
	while (name.len && name.text[name.len - 1] == ' ')
		name.len--;
	struct tp_thread *thread = tp_thread_map_find(&reader->threads, &event->pid, &event->tid);
	if (thread)
		thread->name = name_of(reader, &name);
}

static void read_event(struct kineto_reader *reader, const struct tp_trace_event *event)
{
	reader->info->n_events++;
	if (reader->events.is_malformed) {
		tp_rank_writer_skip(reader->writer, "a malformed event");
		return;
	}
	switch (tp_trace_event_phase(event)) {
	case 'X':
		read_complete(reader, event);
		break;
	case 'B':
		read_begin(reader, event);
		break;
	case 'E':
		read_end(reader, event);
		break;
	case 'M':
		read_metadata(reader, event);
		break;
	default:
		break;
	}
}

/* ---- the whole trace ---- */

static void read_member(struct kineto_reader *reader, const struct tp_json_slice *key,
			const struct tp_json_slice *value)
{
	find_maker(reader, TP_MARK_MEMBER, key);
	if (tp_kineto_job_read(reader->writer, key, value))
		set_trace_kind(reader, TRACE_KIND_KINETO);
}

static void scan_all(struct kineto_reader *reader, struct tp_json_scan *scan)
{
	for (;;) {
		struct tp_json_slice key;
		struct tp_json_slice value;
		struct tp_trace_event event;
		switch (tp_trace_event_next(&event, &reader->events, scan, &key, &value)) {
		case TP_JSON_SCAN_END:
			return;
		case TP_JSON_SCAN_EVENT:
		case TP_JSON_SCAN_READ:
			read_event(reader, &event);
			break;
		case TP_JSON_SCAN_MEMBER:
			read_member(reader, &key, &value);
			break;
		case TP_JSON_SCAN_JUNK:
			tp_rank_writer_skip(reader->writer, "an entry that is no event");
			break;
		case TP_JSON_SCAN_HUGE:
			tp_rank_writer_skip(reader->writer, "an event larger than 16 MiB");
			break;
		}
	}
}

static void reader_release(struct kineto_reader *reader)
{
	tp_thread_map_release(&reader->threads);
	tp_map_release(&reader->made_links);
	tp_map_release(&reader->process_names);
	tp_buf_release(&reader->scratch);
	tp_trace_event_reader_release(&reader->events);
	pending_drop(reader);
	tp_stream_tracks_release(&reader->streams);
}

static enum tp_status fail_empty(const struct tp_import_source *source,
				 const struct tp_rank_info *info, struct tp_error *err)
{
	const char *name = source->member ? source->member : source->path;
	if (!info->n_events)
		return tp_fail(err, TP_PARSE, "'%s' holds no trace events", name);
	return tp_fail(err, TP_PARSE, "'%s': none of its %llu events is of use: %s", name,
		       (unsigned long long)info->n_events,
		       info->skipped_because ? info->skipped_because : "none has a duration");
}

/* A device that is listed and has no span is known to have lost its work. */
static void list_lost_device(struct kineto_reader *reader)
{
	static const struct tp_device_info device = {.name = "CUDA functions"};
	if (reader->has_lost_work && !reader->streams.n && !reader->info->n_devices)
		tp_rank_writer_devices(reader->writer, &device, 1);
}

static enum tp_status kineto_read(struct tp_import_reader *import,
				  const struct tp_import_source *source, struct tp_error *err)
{
	struct tp_json_scan scan;
	struct kineto_reader reader = {.writer = tp_rank_writer_begin(import)};
	if (!reader.writer)
		return tp_fail(err, TP_PARSE, "more than %d ranks", TP_RANKS_MAX);
	reader.info = tp_rank_info(reader.writer);
	reader.keeps_python = tp_import_options(import)->keeps_python;
	tp_thread_map_init(&reader.threads, reader.writer);
	tp_json_scan_init(&scan, source->stream);
	scan_all(&reader, &scan);
	set_trace_kind(&reader, TRACE_KIND_OTHER);
	tp_stream_tracks_name(&reader.streams, reader.writer, &reader.threads);
	tp_thread_map_skip_open(&reader.threads);
	reader.info->pid = tp_thread_map_main_pid(&reader.threads);
	reader.info->is_cut = scan.is_cut;
	list_lost_device(&reader);
	enum tp_status status = TP_OK;
	if (reader.maker)
		status = tp_trace_maker_error(reader.maker,
					      source->member ? source->member : source->path, err);
	else if (!reader.info->n_kept)
		status = fail_empty(source, reader.info, err);
	if (reader.maker || reader.trace_kind == TRACE_KIND_OTHER) {
		reader.info->format = "unknown";
		tp_thread_map_name_lanes(&reader.threads, &reader.process_names);
	}
	tp_json_scan_release(&scan);
	reader_release(&reader);
	tp_rank_writer_end(reader.writer, false);
	return status;
}

static bool kineto_probe(const unsigned char *head, size_t size)
{
	return tp_json_scan_probe(head, size);
}

const struct tp_importer tp_importer_kineto = {
	.info =
		{
			.name = "kineto",
			.summary = "PyTorch profiler (Kineto), JSON, plain or .gz, also "
				   "several ranks in a .tar or .tar.gz",
			.keeps =
				"kernels, copies, operators, runtime calls, annotations, outermost "
				"Python functions",
			.loses = "flows, counters, memory events, stacks, shapes",
		},
	.recognises = kineto_probe,
	.read = kineto_read,
};
