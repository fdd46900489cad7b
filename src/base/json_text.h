/* SPDX-License-Identifier: Apache-2.0 */
/* The strict grammar of JSON (RFC 8259), which tells the first mistake and where it is. */
#ifndef TRAINPROF_SRC_BASE_JSON_TEXT_H
#define TRAINPROF_SRC_BASE_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct tp_json_fault {
	size_t offset;    /* of the byte that is wrong; the length when the text ends too early */
	const char *what; /* "expected ',' or '}'"; static storage */
};

struct tp_json_place {
	unsigned line;     /* of a value's first character; from 1 */
	unsigned key_line; /* of the key before it; in an array that of a key around it */
};

/* One for each value, in the order of the text: a parent before what is in it. */
struct tp_json_places {
	struct tp_json_place *items; /* heap; the caller's to free */
	size_t n;
	size_t capacity;
};

/*
 * Whether the text is one JSON value and nothing else. Stricter than RFC 8259 where it leaves a
 * choice: nesting is bounded by TP_JSON_MAX_DEPTH, numbers are finite, strings hold no NUL. Equal
 * keys are not looked for. Adds to `places`, up to the first mistake.
 */
bool tp_json_text_is_valid(const char *text, size_t len, struct tp_json_places *places,
			   struct tp_json_fault *fault);

#endif
