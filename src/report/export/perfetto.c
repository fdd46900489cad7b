/* SPDX-License-Identifier: Apache-2.0 */
/* The run as Perfetto's protobuf trace, with each name written once. Field numbers are those of
 * trace_packet.proto, track_event.proto, track_descriptor.proto and interned_data.proto. */
#include "formats.h"

#include "events.h"
#include "protobuf.h"

#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/strtab.h"
#include "trainprof/base/text.h"

#include <stdlib.h>

enum { TRACE_PACKET = 1 };
enum {
	PACKET_TIME = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_TRACK = 60,
};
enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum {
	EVENT_CATEGORY_ID = 3,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_ID = 10,
	EVENT_TRACK = 11,
};
enum { TYPE_BEGIN = 1, TYPE_END = 2 };
enum {
	ANNOTATION_NAME_ID = 1,
	ANNOTATION_UINT = 3,
	ANNOTATION_TEXT_ID = 17,
};
enum { INTERNED_CATEGORY = 1, INTERNED_NAME = 2, INTERNED_KEY = 3, INTERNED_TEXT = 29 };
enum { SEQUENCE = 1 };

struct perfetto {
	FILE *out;
	struct tp_strtab names[4]; /* categories, names, keys, texts */
	struct tp_buf file;        /* a packet in its field of the trace */
	struct tp_buf packet;
	struct tp_buf message;
	struct tp_buf inner;
	struct tp_buf interned;
	uint64_t *ends; /* ends of the open slices of the track; heap */
	size_t n_ends;
	size_t ends_capacity;
	uint64_t track; /* uuid */
	int64_t pid;
	bool has_begun;
};

enum table { CATEGORIES, NAMES, KEYS, TEXTS };

/* Returns the id of a text; a new text is added to the packet's interned data. */
static uint64_t intern(struct perfetto *p, enum table table, const char *text)
{
	static const unsigned fields[] = {INTERNED_CATEGORY, INTERNED_NAME, INTERNED_KEY,
					  INTERNED_TEXT};
	size_t before = p->names[table].n;
	uint32_t id = tp_strtab_intern(&p->names[table], *text ? text : "[unnamed]");
	if (p->names[table].n > before) {
		struct tp_buf entry = {0};
		struct tp_buf valid = {0};
		tp_text_add_utf8(&valid, tp_strtab_text(&p->names[table], id));
		tp_proto_add_uint(&entry, 1, id);
		tp_proto_add_text(&entry, 2, tp_buf_text(&valid));
		tp_proto_add_message(&p->interned, fields[table], &entry);
		tp_buf_release(&entry);
		tp_buf_release(&valid);
	}
	return id;
}

static void flush_packet(struct perfetto *p)
{
	tp_proto_add_uint(&p->packet, PACKET_SEQUENCE, SEQUENCE);
	tp_proto_add_uint(&p->packet, PACKET_FLAGS,
			  p->has_begun ? FLAG_NEEDS_STATE : FLAG_CLEARED | FLAG_NEEDS_STATE);
	p->has_begun = true;
	if (p->interned.len)
		tp_proto_add_message(&p->packet, PACKET_INTERNED, &p->interned);
	tp_proto_add_message(&p->file, TRACE_PACKET, &p->packet);
	fwrite(tp_buf_text(&p->file), 1, p->file.len, p->out);
	tp_buf_clear(&p->file);
}

static void end_slice(struct perfetto *p)
{
	tp_proto_add_uint(&p->packet, PACKET_TIME, p->ends[--p->n_ends]);
	tp_proto_add_uint(&p->message, EVENT_TYPE, TYPE_END);
	tp_proto_add_uint(&p->message, EVENT_TRACK, p->track);
	tp_proto_add_message(&p->packet, PACKET_EVENT, &p->message);
	flush_packet(p);
}

static void end_slices(struct perfetto *p, uint64_t until_ns)
{
	while (p->n_ends && p->ends[p->n_ends - 1] <= until_ns)
		end_slice(p);
}

static uint64_t process_track(int64_t pid)
{
	return ((uint64_t)pid << 32) + UINT32_MAX;
}

static void write_process(void *context, int64_t pid, const char *name)
{
	struct perfetto *p = context;
	end_slices(p, UINT64_MAX);
	if (p->pid == pid)
		return;
	p->pid = pid;
	tp_proto_add_uint(&p->message, TRACK_UUID, process_track(pid));
	tp_proto_add_uint(&p->inner, PROCESS_PID, (uint64_t)pid);
	tp_proto_add_text(&p->inner, PROCESS_NAME, name);
	tp_proto_add_message(&p->message, TRACK_PROCESS, &p->inner);
	tp_proto_add_message(&p->packet, PACKET_TRACK, &p->message);
	flush_packet(p);
}

static void write_track(void *context, int64_t pid, int64_t tid, const char *name)
{
	struct perfetto *p = context;
	end_slices(p, UINT64_MAX);
	p->track = ((uint64_t)pid << 32) + (uint64_t)tid;
	tp_proto_add_uint(&p->message, TRACK_UUID, p->track);
	tp_proto_add_uint(&p->message, TRACK_PARENT, process_track(pid));
	tp_proto_add_uint(&p->inner, THREAD_PID, (uint64_t)pid);
	tp_proto_add_uint(&p->inner, THREAD_TID, (uint64_t)tid);
	tp_proto_add_text(&p->inner, THREAD_NAME, name);
	tp_proto_add_message(&p->message, TRACK_THREAD, &p->inner);
	tp_proto_add_message(&p->packet, PACKET_TRACK, &p->message);
	flush_packet(p);
}

static void add_args(struct perfetto *p, const struct tp_export_slice *slice)
{
	for (size_t i = 0; i < slice->n_args; i++) {
		const struct tp_export_arg *arg = &slice->args[i];
		tp_proto_add_uint(&p->inner, ANNOTATION_NAME_ID, intern(p, KEYS, arg->key));
		if (arg->text)
			tp_proto_add_uint(&p->inner, ANNOTATION_TEXT_ID,
					  intern(p, TEXTS, arg->text));
		else
			tp_proto_add_uint(&p->inner, ANNOTATION_UINT, arg->number);
		tp_proto_add_message(&p->message, EVENT_ANNOTATION, &p->inner);
	}
}

static void write_slice(void *context, const struct tp_export_slice *slice)
{
	struct perfetto *p = context;
	end_slices(p, slice->start_ns);
	tp_proto_add_uint(&p->packet, PACKET_TIME, slice->start_ns);
	tp_proto_add_uint(&p->message, EVENT_TYPE, TYPE_BEGIN);
	tp_proto_add_uint(&p->message, EVENT_TRACK, p->track);
	tp_proto_add_uint(&p->message, EVENT_CATEGORY_ID, intern(p, CATEGORIES, slice->category));
	tp_proto_add_uint(&p->message, EVENT_NAME_ID, intern(p, NAMES, slice->name));
	add_args(p, slice);
	tp_proto_add_message(&p->packet, PACKET_EVENT, &p->message);
	flush_packet(p);
	TP_ARRAY_PUSH(p->ends, p->n_ends, p->ends_capacity) = slice->end_ns;
}

static enum tp_status perfetto_write(const struct tp_report *report, FILE *out,
				     struct tp_error *err)
{
	struct perfetto p = {.out = out, .pid = -1};
	const struct tp_export_event_sink sink = {.context = &p,
						  .process = write_process,
						  .track = write_track,
						  .slice = write_slice};
	for (size_t i = 0; i < TP_ARRAY_LEN(p.names); i++)
		tp_strtab_init(&p.names[i]);
	tp_export_events_emit(report->profile, &sink);
	end_slices(&p, UINT64_MAX);
	for (size_t i = 0; i < TP_ARRAY_LEN(p.names); i++)
		tp_strtab_release(&p.names[i]);
	tp_buf_release(&p.file);
	tp_buf_release(&p.packet);
	tp_buf_release(&p.message);
	tp_buf_release(&p.inner);
	tp_buf_release(&p.interned);
	free(p.ends);
	return tp_file_check(out, "the export", err);
}

const struct tp_export_format tp_export_perfetto = {
	.name = "perfetto",
	.ending = "pftrace",
	.summary = "the same, smaller; protobuf",
	.opens = "ui.perfetto.dev, trace_processor",
	.is_binary = true,
	.write = perfetto_write,
};
