/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a program's own source, read during the analysis: recordings do not contain it. A file
 * that is missing, changed since the run began, not regular or above 2 MiB has no text. */
#ifndef TRAINPROF_SRC_ANALYZE_CLASSIFY_SOURCE_TEXT_H
#define TRAINPROF_SRC_ANALYZE_CLASSIFY_SOURCE_TEXT_H

#include "trainprof/base/buf.h"
#include "trainprof/base/map.h"
#include "trainprof/model/trace.h"

#include <stdbool.h>

struct tp_source_file {
	struct tp_buf text;
	const char **lines; /* heap; borrowed from text; without indentation */
	size_t n_lines;
	uint32_t *indents; /* heap; of each line, in characters */
	size_t n_indents;
};

/* Zero-initialised except for the trace = empty. */
struct tp_source_text {
	const struct tp_trace *trace;
	struct tp_source_file *files; /* heap */
	size_t n_files;
	size_t capacity;
	struct tp_map index; /* string id of a path -> file */
};

/* Returns the statement that begins at `line`, as far as it is on that line, without indentation;
 * "" if it is not known. Borrowed until the release. */
const char *tp_source_text_line(struct tp_source_text *text, uint32_t path, uint32_t line);
/* Returns true if the file contains the text in a line that is not a comment. */
bool tp_source_text_holds(struct tp_source_text *text, uint32_t path, const char *what);
/* Returns true if the line is in a block of a "for" or "while" of its function, or in a
 * comprehension. */
bool tp_source_text_is_in_loop(struct tp_source_text *text, uint32_t path, uint32_t line);
/* Returns true if the line reads or writes an element by the variable of a "for" around it, or of
 * its comprehension: "x[i]" below "for i in ...". */
bool tp_source_text_is_by_index(struct tp_source_text *text, uint32_t path, uint32_t line);
/* Returns true if the line is all that a "while" with a condition does. */
bool tp_source_text_is_poll(struct tp_source_text *text, uint32_t path, uint32_t line);
void tp_source_text_release(struct tp_source_text *text);

#endif
