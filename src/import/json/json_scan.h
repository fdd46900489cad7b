/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans a JSON trace from the first byte to the last: an object with a list "traceEvents" among its
 * members, or the bare list. Returns complete events and members as slices of text, to be parsed
 * with json_walk.h. For documents that nest lists deeper, `enter` lists the members to enter:
 * objects in lists with that key are then events, and the key is returned with them.
 *
 * Memory is a window that grows to the size of the largest event, up to TP_JSON_SCAN_WINDOW_MAX;
 * anything larger is skipped. Nesting has no limit. If the text is truncated, everything complete
 * is returned.
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
	TP_JSON_SCAN_MEMBER, /* next to the list, with its key; type NONE if it is too large */
	TP_JSON_SCAN_JUNK,   /* in the list, but not an object */
	TP_JSON_SCAN_HUGE,   /* in the list, but larger than the window may be; skipped */
	TP_JSON_SCAN_READ,   /* an event that the reader of objects has read */
};

enum tp_json_scan_place {
	TP_JSON_SCAN_PLACE_START,
	TP_JSON_SCAN_PLACE_OBJECT,
	TP_JSON_SCAN_PLACE_LIST,
	TP_JSON_SCAN_PLACE_END
};

/* A member whose list or object is entered, wherever it occurs. */
struct tp_json_scan_enter {
	const char *key;
	bool is_deep; /* objects in its list are entered, too, and are not events */
};

/* Reads objects of a list in one pass, instead of being given them when their end is known. */
struct tp_json_scan_reader {
	/* Returns the byte after the object that begins at `at`; NULL if it does not end before
	 * `end` or is malformed: it is then returned as an event. Slices of it are borrowed until
	 * the next call of tp_json_scan_next(). */
	const char *(*read)(void *self, const char *at, const char *end);
	void *self;
};

enum { TP_JSON_SCAN_DEPTH_MAX = 8 };

struct tp_json_scan {
	struct tp_stream *stream;
	char *window; /* heap: capacity and TP_JSON_WALK_SLACK bytes */
	size_t capacity;
	size_t at; /* [at, end) has been read and not yet returned */
	size_t end;
	bool is_drained;                        /* the stream has ended */
	char key[64];                           /* the last key */
	const struct tp_json_scan_enter *enter; /* NULL: "traceEvents" only */
	size_t n_enter;
	struct tp_json_scan_reader reader; /* of events; `read` may be NULL */
	struct tp_json_scan_frame {
		enum tp_json_scan_place place;
		const struct tp_json_scan_enter *entered;
	} frames[TP_JSON_SCAN_DEPTH_MAX]; /* enclosing places, the outermost first */
	size_t depth;
	const struct tp_json_scan_enter *entered; /* member whose value is scanned; or NULL */
	enum tp_json_scan_place place;
	bool is_bare;  /* the document is a bare list */
	bool has_list; /* a list of events was found */
	bool is_cut;   /* the text is truncated */
};

void tp_json_scan_init(struct tp_json_scan *scan, struct tp_stream *stream);
void tp_json_scan_release(struct tp_json_scan *scan);

/* Slices are borrowed until the next call. `key` is set for TP_JSON_SCAN_MEMBER, and for events of
 * a list that was entered. */
enum tp_json_scan_item tp_json_scan_next(struct tp_json_scan *scan, struct tp_json_slice *key,
					 struct tp_json_slice *value);

/* True if the first bytes of a file can begin such a text: [, or { and a key, after spaces. */
bool tp_json_scan_probe(const unsigned char *head, size_t size);

#endif
