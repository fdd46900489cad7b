/* SPDX-License-Identifier: Apache-2.0 */
/* The members of a trace event that are wanted, as pieces of its text. */
#ifndef TRAINPROF_SRC_IMPORT_JSON_TRACE_EVENT_H
#define TRAINPROF_SRC_IMPORT_JSON_TRACE_EVENT_H

#include "import/json/json_walk.h"

#include <stdbool.h>

struct tp_trace_event {
	struct tp_json_slice ph, cat, name, pid, tid, ts, dur, args;
};

/* Texts that had escapes, which hardly any have. Zero-initialised is empty and valid. */
struct tp_trace_event_plain {
	struct tp_buf key;
	struct tp_buf phase;
	struct tp_buf category;
};

/*
 * Fill `event`; it borrows the text, and `plain` until the next event. Stops
 * where the rest is of no use: at a phase that nobody wants, and at args behind all else. False
 * when the event is malformed.
 */
bool tp_trace_event_read(struct tp_trace_event *event, const struct tp_json_slice *text,
			 struct tp_trace_event_plain *plain);
/* Its one letter; NUL when it has none. */
char tp_trace_event_phase(const struct tp_trace_event *event);

void tp_trace_event_plain_release(struct tp_trace_event_plain *plain);

#endif
