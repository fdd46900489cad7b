/* SPDX-License-Identifier: Apache-2.0 */
/* The wanted members of a trace event, as slices of its text. */
#ifndef TRAINPROF_SRC_IMPORT_JSON_TRACE_EVENT_H
#define TRAINPROF_SRC_IMPORT_JSON_TRACE_EVENT_H

#include "import/json/json_walk.h"

#include <stdbool.h>

struct tp_trace_event {
	struct tp_json_slice ph, cat, name, pid, tid, ts, dur, args;
};

/* Unescaped copies of fields with escapes, which are rare. Zero-initialised is empty and valid. */
struct tp_trace_event_plain {
	struct tp_buf key;
	struct tp_buf phase;
	struct tp_buf category;
};

/* Fills in `event`, which borrows the text, and `plain` until the next event. Stops when the rest
 * is not needed: at an unwanted phase, and at args after all other members. Returns false if the
 * event is malformed. */
bool tp_trace_event_read(struct tp_trace_event *event, const struct tp_json_slice *text,
			 struct tp_trace_event_plain *plain);
/* Returns its one letter; NUL if it has none. */
char tp_trace_event_phase(const struct tp_trace_event *event);

void tp_trace_event_plain_release(struct tp_trace_event_plain *plain);

#endif
