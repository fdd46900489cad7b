/* SPDX-License-Identifier: Apache-2.0 */
/* Passes over a bracket of JSON and all that it encloses, as fast as memory is read. */
#ifndef TRAINPROF_SRC_IMPORT_JSON_JSON_SKIP_H
#define TRAINPROF_SRC_IMPORT_JSON_JSON_SKIP_H

#include <stdbool.h>
#include <stdint.h>

enum { TP_JSON_SKIP_BYTES = 64 };

/* How far a bracket and what it encloses have been passed; zero before it. */
struct tp_json_skip {
	uint64_t in_text;    /* all ones inside a string */
	uint64_t is_escaped; /* the next byte, by a backslash */
	uint64_t depth;      /* nesting costs nothing: it is a number here */
};

/*
 * Go on to behind the bracket that closes the first one met: true, and *at is there. Else *at is
 * where to go on when there is more; bytes of less than a block are left unless `is_last`. Reads up
 * to TP_JSON_SKIP_BYTES behind `end`, and does not mind what is there.
 */
bool tp_json_skip_run(struct tp_json_skip *skip, const char **at, const char *end, bool is_last);
/* The same without vectors: what is right, for tests. */
bool tp_json_skip_plain(struct tp_json_skip *skip, const char **at, const char *end, bool is_last);

#endif
