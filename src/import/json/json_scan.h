/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks a trace in JSON from its first byte to its last: an object with a list "traceEvents"
 * somewhere among its members, or the bare list. Gives whole events and members as pieces of text,
 * to be taken apart by json_walk.h. Documents that nest lists deeper say which members are entered
 * (`enter`): objects in lists of that key are then events, and the key is given with them.
 *
 * Memory is a window that grows with the largest event up to TP_JSON_SCAN_WINDOW_MAX; what is
 * larger is passed over. Nesting has no limit. Where the text ends too early, what was whole is
 * given.
 */
#ifndef TRAINPROF_SRC_IMPORT_JSON_JSON_SCAN_H
#define TRAINPROF_SRC_IMPORT_JSON_JSON_SCAN_H

#include "json_walk.h"

#include <stdbool.h>
#include <stddef.h>

struct tp_stream;

enum { TP_JSON_SCAN_WINDOW = 512 << 10, TP_JSON_SCAN_WINDOW_MAX = 16 << 20 };

enum tp_json_scan_item {
	TP_JSON_SCAN_END,
	TP_JSON_SCAN_EVENT,  /* an object in the list of events */
	TP_JSON_SCAN_MEMBER, /* beside the list, with its key; of no type when it is too large */
	TP_JSON_SCAN_JUNK,   /* in the list, and no object */
	TP_JSON_SCAN_HUGE,   /* in the list, and larger than the window may be; passed over */
};

enum tp_json_scan_place {
	TP_JSON_SCAN_PLACE_START,
	TP_JSON_SCAN_PLACE_OBJECT,
	TP_JSON_SCAN_PLACE_LIST,
	TP_JSON_SCAN_PLACE_END
};

/* A member, wherever it is met, whose list or object is entered. */
struct tp_json_scan_enter {
	const char *key;
	bool is_deep; /* objects in its list are entered, too, and are no events */
};

enum { TP_JSON_SCAN_DEPTH_MAX = 8 };

struct tp_json_scan {
	struct tp_stream *stream;
	char *window; /* heap: capacity and TP_JSON_WALK_SLACK bytes */
	size_t capacity;
	size_t at; /* [at, end) was read and not yet given */
	size_t end;
	bool is_drained;                        /* nothing follows in the stream */
	char key[64];                           /* the one last met */
	const struct tp_json_scan_enter *enter; /* NULL: "traceEvents" only */
	size_t n_enter;
	struct tp_json_scan_frame {
		enum tp_json_scan_place place;
		const struct tp_json_scan_enter *entered;
	} frames[TP_JSON_SCAN_DEPTH_MAX]; /* around the place, the outermost first */
	size_t depth;
	const struct tp_json_scan_enter *entered; /* what the place is the value of; NULL */
	enum tp_json_scan_place place;
	bool is_bare;  /* the list is all there is */
	bool has_list; /* a list of events was met */
	bool is_cut;   /* the text ends in mid-document */
};

void tp_json_scan_init(struct tp_json_scan *scan, struct tp_stream *stream);
void tp_json_scan_release(struct tp_json_scan *scan);

/* Pieces are borrowed until the next call. `key` is for TP_JSON_SCAN_MEMBER, and for events of a
 * list that was entered. */
enum tp_json_scan_item tp_json_scan_next(struct tp_json_scan *scan, struct tp_json_slice *key,
					 struct tp_json_slice *value);

/* Whether the first bytes of a file may be such a text: blanks, then { or [. */
bool tp_json_scan_probe(const unsigned char *head, size_t size);

#endif
