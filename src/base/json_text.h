/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the strict grammar of JSON (RFC 8259) and reports the first error with its position. */
#ifndef TRAINPROF_SRC_BASE_JSON_TEXT_H
#define TRAINPROF_SRC_BASE_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct tp_json_fault {
	size_t offset;    /* offset of the wrong byte; the length if the text ends too early */
	const char *what; /* "expected ',' or '}'"; static storage */
};

struct tp_json_place {
	unsigned line;     /* line of a value's first character, from 1 */
	unsigned key_line; /* line of the key before it; in an array, of the key around it */
};

/* One entry per value, in the order of the text: a parent before its children. */
struct tp_json_places {
	struct tp_json_place *items; /* heap; the caller's to free */
	size_t n;
	size_t capacity;
};

/* True if the text is exactly one JSON value. Stricter than RFC 8259 where it leaves a choice:
 * nesting is bounded by TP_JSON_MAX_DEPTH, numbers are finite, strings contain no NUL. Does not
 * check for duplicate keys. Adds to `places`, up to the first error. */
bool tp_json_text_is_valid(const char *text, size_t len, struct tp_json_places *places,
			   struct tp_json_fault *fault);

#endif
