/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the wanted members of a trace event. */
#include "trace_event.h"

#include "trainprof/base/memory.h"

/* Keys of up to four letters as a number: no wanted key is longer. */
#define KEY(a, b, c, d)                                                                            \
	((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

static uint32_t key_number(const struct tp_json_slice *key)
{
	static const uint32_t masks[] = {0, 0xff, 0xffff, 0xffffff, 0xffffffff};
	const unsigned char *p = (const unsigned char *)key->text;
	return key->len < TP_ARRAY_LEN(masks) ? KEY(p[0], p[1], p[2], p[3]) & masks[key->len] : 0;
}

static struct tp_json_slice *event_field(struct tp_trace_event *event,
					 const struct tp_json_slice *key)
{
	switch (key_number(key)) {
	case KEY('p', 'h', 0, 0):
		return &event->ph;
	case KEY('t', 's', 0, 0):
		return &event->ts;
	case KEY('c', 'a', 't', 0):
		return &event->cat;
	case KEY('p', 'i', 'd', 0):
		return &event->pid;
	case KEY('t', 'i', 'd', 0):
		return &event->tid;
	case KEY('d', 'u', 'r', 0):
		return &event->dur;
	case KEY('n', 'a', 'm', 'e'):
		return &event->name;
	case KEY('a', 'r', 'g', 's'):
		return &event->args;
	default:
		return NULL;
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

/* Sets args to the rest of the event without searching for their end: a reader that wants their
 * members finds it, and few do. */
static void skip_args(struct tp_trace_event *event, const struct tp_json_walk *walk,
		      const struct tp_json_slice *text)
{
	event->args = (struct tp_json_slice){.text = walk->at, .type = TP_JSON_SLICE_OBJECT};
	event->args.len = (size_t)(text->text + text->len - walk->at);
}

/* Fields that are compared are unescaped here. */
static void read_field(struct tp_trace_event *event, struct tp_json_slice *field,
		       const struct tp_json_slice *value, struct tp_trace_event_plain *plain)
{
	*field = *value;
	if (!value->is_escaped)
		return;
	if (field == &event->ph)
		*field = tp_json_slice_unescape(value, &plain->phase);
	else if (field == &event->cat)
		*field = tp_json_slice_unescape(value, &plain->category);
}

bool tp_trace_event_read(struct tp_trace_event *event, const struct tp_json_slice *text,
			 struct tp_trace_event_plain *plain)
{
	struct tp_json_walk walk = tp_json_walk_init(text);
	struct tp_json_slice key;
	struct tp_json_slice value;
	*event = (struct tp_trace_event){0};
	while (tp_json_walk_to_value(&walk, &key)) {
		if (key.is_escaped)
			key = tp_json_slice_unescape(&key, &plain->key);
		struct tp_json_slice *field = event_field(event, &key);
		if (field == &event->args && *walk.at == '{' && is_complete(event)) {
			skip_args(event, &walk, text);
			return true;
		}
		if (!tp_json_walk_read_value(&walk, &value))
			break;
		if (!field)
			continue;
		read_field(event, field, &value, plain);
		if (field == &event->ph && !is_needed(tp_trace_event_phase(event)))
			return true;
	}
	return !walk.is_malformed;
}

void tp_trace_event_plain_release(struct tp_trace_event_plain *plain)
{
	tp_buf_release(&plain->key);
	tp_buf_release(&plain->phase);
	tp_buf_release(&plain->category);
}
