/* SPDX-License-Identifier: Apache-2.0 */
/* Skips a JSON bracket and everything inside it, at about the speed of memory reads. */
#ifndef TRAINPROF_SRC_IMPORT_JSON_JSON_SKIP_H
#define TRAINPROF_SRC_IMPORT_JSON_JSON_SKIP_H

#include <stdbool.h>
#include <stdint.h>

enum { TP_JSON_SKIP_BYTES = 64 };

/* State of skipping one bracket; zero before it. */
struct tp_json_skip {
	uint64_t in_text;    /* all ones inside a string */
	uint64_t is_escaped; /* the next byte is escaped by a backslash */
	uint64_t depth;      /* nesting costs nothing: it is a counter */
};

/* Skips past the bracket that closes the first one. Returns true with *at after it. Otherwise *at
 * is where to continue when there is more text; less than a block is left unread unless `is_last`.
 * Reads up to TP_JSON_SKIP_BYTES after `end` and ignores the values there. */
bool tp_json_skip_run(struct tp_json_skip *skip, const char **at, const char *end, bool is_last);
/* The same without vectors: the reference in tests. */
bool tp_json_skip_plain(struct tp_json_skip *skip, const char **at, const char *end, bool is_last);

#endif
