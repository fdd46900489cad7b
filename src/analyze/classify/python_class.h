/* SPDX-License-Identifier: Apache-2.0 */
/* What a Python function says by the file it stands in and its name. */
#ifndef TRAINPROF_SRC_ANALYZE_CLASSIFY_PYTHON_CLASS_H
#define TRAINPROF_SRC_ANALYZE_CLASSIFY_PYTHON_CLASS_H

#include "frame_class.h"

/*
 * Rows with a source come first, in the order of files and rows: the first one that gives a phase
 * has the say. Where none does, the rows for any function's name speak, but for those with a
 * module: so a user's own next_batch() is the loader and a library's is what its file is.
 *
 * `path` is the file as the code object has it, `symbol` the qualified name, or the plain one below
 * Python 3.11; case does not matter. What has no leaf of its own interprets. About 10 us; callers
 * keep the answer per function.
 */
struct tp_frame_class tp_python_class_find(const struct tp_patterns *patterns, const char *path,
					   const char *symbol);

/* The rest is for the loader and the checker of patterns. */

struct tp_python_pattern {
	const char **source; /* globs for the whole path, in small letters */
	const char **symbol; /* globs for the qualified name or its last part; NULL: any */
	struct tp_frame_class says;
	bool gives_phase;
	const char **examples; /* "/path/file.py:Class.method", or NULL */
	const char *file;
	unsigned line;
};

struct tp_python_patterns {
	struct tp_python_pattern *items;
	size_t n_items;
	size_t capacity;
};

bool tp_python_pattern_is(const struct tp_pattern_row *row);
enum tp_status tp_python_pattern_read(struct tp_python_patterns *out,
				      const struct tp_pattern_row *row, struct tp_error *err);

#endif
