/* SPDX-License-Identifier: Apache-2.0 */
/* The wanted members of a trace event, as slices of its text. */
#ifndef TRAINPROF_SRC_IMPORT_JSON_TRACE_EVENT_H
#define TRAINPROF_SRC_IMPORT_JSON_TRACE_EVENT_H

#include "import/json/json_scan.h"
#include "import/json/json_shape.h"
#include "import/json/json_walk.h"

#include <stdbool.h>

enum { TP_TRACE_EVENT_FIELDS = 8 };

struct tp_trace_event {
	union {
		struct {
			struct tp_json_slice ph, cat, name, pid, tid, ts, dur, args;
		};
		struct tp_json_slice fields[TP_TRACE_EVENT_FIELDS];
	};
};

enum { TP_TRACE_EVENT_ARGS_MAX = 7 };

/* State that is kept from one event to the next: the orders of members, and unescaped copies of
 * texts with escapes, which are rare. Zero-initialised is empty and valid. */
struct tp_trace_event_reader {
	/* Members of args that are read on the way, in place of a second pass over them. */
	struct tp_json_fields wanted;
	size_t n_wanted; /* the largest number of a field; 0 = none is */
	struct tp_json_slice args[TP_TRACE_EVENT_ARGS_MAX]; /* of the last event, by field from 1
							       on: without category, or none */
	unsigned args_found; /* a bit for each of them that is there */
	struct tp_json_shape shape;
	struct tp_json_shape args_shape;
	struct tp_buf key;
	struct tp_buf phase;
	struct tp_buf category;
	struct tp_trace_event *event; /* to be filled in by the scan */
	bool is_malformed;            /* the last event is */
};

/* Fills in `event`, which borrows the text, and the reader's args and copies until the next event.
 * Stops when the rest is not needed: at an unwanted phase, and at args after all other members.
 * Returns false if the event is malformed. */
bool tp_trace_event_read(struct tp_trace_event *event, const struct tp_json_slice *text,
			 struct tp_trace_event_reader *reader);
/* Returns the next item of a trace. An event is read, and `event` filled in unless the reader says
 * that it is malformed. One reader reads all events of a scan. */
enum tp_json_scan_item tp_trace_event_next(struct tp_trace_event *event,
					   struct tp_trace_event_reader *reader,
					   struct tp_json_scan *scan, struct tp_json_slice *key,
					   struct tp_json_slice *value);
/* Returns its one letter; NUL if it has none. */
char tp_trace_event_phase(const struct tp_trace_event *event);

void tp_trace_event_reader_release(struct tp_trace_event_reader *reader);

#endif
