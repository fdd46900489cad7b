/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the wanted members of a trace event. */
#include "trace_event.h"

#include "trainprof/base/memory.h"

#include <string.h>

/* Keys of up to four letters as a number: no wanted key is longer. */
#define KEY(a, b, c, d)                                                                            \
	((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

static uint32_t key_number(const struct tp_json_slice *key)
{
	static const uint32_t masks[] = {0, 0xff, 0xffff, 0xffffff, 0xffffffff};
	const unsigned char *p = (const unsigned char *)key->text;
	return key->len < TP_ARRAY_LEN(masks) ? KEY(p[0], p[1], p[2], p[3]) & masks[key->len] : 0;
}

/* Numbers of fields: places in struct tp_trace_event, from 1 on. */
enum { FIELD_PH = 1, FIELD_CAT, FIELD_NAME, FIELD_PID, FIELD_TID, FIELD_TS, FIELD_DUR, FIELD_ARGS };

static uint8_t field_find(const void *self, const struct tp_json_slice *key)
{
	(void)self;
	switch (key_number(key)) {
	case KEY('p', 'h', 0, 0):
		return FIELD_PH;
	case KEY('t', 's', 0, 0):
		return FIELD_TS;
	case KEY('c', 'a', 't', 0):
		return FIELD_CAT;
	case KEY('p', 'i', 'd', 0):
		return FIELD_PID;
	case KEY('t', 'i', 'd', 0):
		return FIELD_TID;
	case KEY('d', 'u', 'r', 0):
		return FIELD_DUR;
	case KEY('n', 'a', 'm', 'e'):
		return FIELD_NAME;
	case KEY('a', 'r', 'g', 's'):
		return FIELD_ARGS;
	default:
		return 0;
	}
}

char tp_trace_event_phase(const struct tp_trace_event *event)
{
	if (event->ph.len != 1)
		return '\0';
	return *event->ph.text;
}

/* Most of the unwanted events are flows, instants and counters: parsing stops as soon as their
 * phase is known. */
static bool is_needed(char phase)
{
	return phase == 'X' || phase == 'B' || phase == 'E' || phase == 'M';
}

/* True if the event has everything that a complete event has besides args, which Kineto writes
 * last. */
static bool is_complete(const struct tp_trace_event *event)
{
	return event->ph.type && event->cat.type && event->name.type && event->pid.type &&
	       event->tid.type && event->ts.type && event->dur.type;
}

/* Returns the byte after the closing bracket of the object, from between two of its members on;
 * NULL if it is not before `end`. */
static const char *skip_rest(const char *at, const char *end)
{
	struct tp_json_skip skip = {.depth = 1};
	return tp_json_skip_run(&skip, &at, end, true) ? at : NULL;
}

/* Sets args to the rest of the event: a reader that wants members of them finds their end, and few
 * do. */
static const char *skip_args(struct tp_trace_event *event, const char *at, const char *end)
{
	const char *after = skip_rest(at, end);
	event->args = (struct tp_json_slice){.text = at, .type = TP_JSON_SLICE_OBJECT};
	event->args.len = (size_t)((after ? after : end) - at);
	return after;
}

/* Fields that are compared are unescaped here. */
static void unescape_field(struct tp_trace_event *event, int field,
			   struct tp_trace_event_reader *reader)
{
	if (field == FIELD_PH)
		event->ph = tp_json_slice_unescape(&event->ph, &reader->phase);
	else if (field == FIELD_CAT)
		event->cat = tp_json_slice_unescape(&event->cat, &reader->category);
}

/* True if the walk stands on the closing bracket of the object. */
static bool is_closed(const struct tp_json_walk *walk)
{
	return !walk->is_malformed && walk->at < walk->end && *walk->at == '}';
}

static void args_clear(struct tp_trace_event_reader *reader)
{
	reader->args_found = 0;
	if (reader->n_wanted)
		memset(reader->args, 0, reader->n_wanted * sizeof(*reader->args));
}

/* Reads the wanted members of args from their bracket on, and to `end`. Returns the place of the
 * closing bracket; NULL if something else follows a member. */
static const char *args_read(struct tp_trace_event_reader *reader, const char *begin,
			     const char *end)
{
	struct tp_json_walk walk = {.at = begin + 1, .end = end, .is_object = true};
	struct tp_json_slice unwanted;
	unsigned place = 0;
	while (walk.at < end && *walk.at != '}') {
		int field = tp_json_shape_next(&reader->args_shape, &walk, &place, &reader->wanted,
					       &reader->key);
		reader->args_found |= field > 0 ? 1U << (field - 1) : 0;
		/* A value goes to its place at once: a copy would wait for the stores before it. */
		if (field < 0 ||
		    !tp_json_walk_read_value(&walk, field ? &reader->args[field - 1] : &unwanted))
			break;
	}
	return is_closed(&walk) ? walk.at : NULL;
}

/* Reads args as a value, with their wanted members if there is a chance that these are needed. */
static bool read_args(struct tp_trace_event_reader *reader, struct tp_trace_event *event,
		      struct tp_json_walk *walk)
{
	const char *begin = walk->at;
	const char *close = NULL;
	if (event->args.type)
		args_clear(reader);
	if (reader->n_wanted && *begin == '{' && !event->cat.len)
		close = args_read(reader, begin, walk->end);
	if (!close)
		return tp_json_walk_read_value(walk, &event->args);
	walk->at = close + 1;
	event->args = (struct tp_json_slice){.text = begin,
					     .len = (size_t)(walk->at - begin),
					     .type = TP_JSON_SLICE_OBJECT};
	return true;
}

/* Reads the value of a field other than args, or of none. */
static inline bool field_read(struct tp_trace_event_reader *reader, struct tp_trace_event *event,
			      struct tp_json_walk *walk, int field)
{
	struct tp_json_slice unwanted;
	struct tp_json_slice *value = field ? &event->fields[field - 1] : &unwanted;
	if (!tp_json_walk_read_value(walk, value))
		return false;
	if (value->is_escaped)
		unescape_field(event, field, reader);
	if (field == FIELD_CAT && event->cat.len && event->args.type)
		args_clear(reader);
	return true;
}

/* One by one: for all at once compilers choose an instruction that takes as long as reading a
 * member. */
static void event_clear(struct tp_trace_event *event)
{
	static const struct tp_json_slice none;
	event->ph = none;
	event->cat = none;
	event->name = none;
	event->pid = none;
	event->tid = none;
	event->ts = none;
	event->dur = none;
	event->args = none;
}

/* Returns the byte after the event, which is read as far as its rest is needed; NULL if it is
 * malformed or does not end before `end`. All it calls is inlined, so that the walks stay in
 * registers. */
static __attribute__((flatten)) const char *event_read(struct tp_trace_event *event,
						       struct tp_trace_event_reader *reader,
						       const char *begin, const char *end)
{
	static const struct tp_json_fields fields = {.find = field_find};
	struct tp_json_walk walk = {.at = begin + 1, .end = end, .is_object = true};
	unsigned place = 0;
	event_clear(event);
	args_clear(reader);
	while (walk.at < end && *walk.at != '}') {
		int field =
			tp_json_shape_next(&reader->shape, &walk, &place, &fields, &reader->key);
		if (field < 0)
			break;
		if (field == FIELD_ARGS) {
			if (*walk.at == '{' && is_complete(event) &&
			    (event->cat.len || !reader->n_wanted))
				return skip_args(event, walk.at, end);
			if (!read_args(reader, event, &walk))
				break;
			continue;
		}
		if (!field_read(reader, event, &walk, field))
			break;
		if (field == FIELD_PH && !is_needed(tp_trace_event_phase(event)))
			return skip_rest(walk.at, end);
	}
	return is_closed(&walk) ? walk.at + 1 : NULL;
}

bool tp_trace_event_read(struct tp_trace_event *event, const struct tp_json_slice *text,
			 struct tp_trace_event_reader *reader)
{
	return event_read(event, reader, text->text, text->text + text->len);
}

static const char *read_scanned(void *self, const char *at, const char *end)
{
	struct tp_trace_event_reader *reader = self;
	return event_read(reader->event, reader, at, end);
}

enum tp_json_scan_item tp_trace_event_next(struct tp_trace_event *event,
					   struct tp_trace_event_reader *reader,
					   struct tp_json_scan *scan, struct tp_json_slice *key,
					   struct tp_json_slice *value)
{
	reader->event = event;
	scan->reader = (struct tp_json_scan_reader){read_scanned, reader};
	enum tp_json_scan_item item = tp_json_scan_next(scan, key, value);
	reader->is_malformed =
		item == TP_JSON_SCAN_EVENT && !tp_trace_event_read(event, value, reader);
	return item == TP_JSON_SCAN_READ ? TP_JSON_SCAN_EVENT : item;
}

void tp_trace_event_reader_release(struct tp_trace_event_reader *reader)
{
	tp_buf_release(&reader->key);
	tp_buf_release(&reader->phase);
	tp_buf_release(&reader->category);
}
