/* SPDX-License-Identifier: Apache-2.0 */
/* Classifies a Python function by its file and its name. */
#ifndef TRAINPROF_SRC_ANALYZE_CLASSIFY_PYTHON_CLASS_H
#define TRAINPROF_SRC_ANALYZE_CLASSIFY_PYTHON_CLASS_H

#include "frame_class.h"

/* Returns true for a native module of the system, of Python or of a package: rows with "library",
 * also those with "native". */
bool tp_python_class_is_installed(const struct tp_patterns *patterns, const char *path);

/*
 * Rows with a source come first, in the order of files and rows: the first one with a phase
 * decides. If none has one, the rows for any function's name decide, except those with a module. So
 * a user's own next_batch() is the loader, and that of a library is whatever its file is.
 *
 * `path` is the file in the code object, `symbol` the qualified name, or the plain one below Python
 * 3.11; case does not matter. A function without a leaf of its own gets the interpreter's. Takes
 * about 10 us; callers cache the result per function.
 */
struct tp_frame_class tp_python_class_find(const struct tp_patterns *patterns, const char *path,
					   const char *symbol);

/* The rest is for the loader and the checker of patterns. */

struct tp_python_pattern {
	const char **source; /* globs for the whole path, in lower case */
	const char **symbol; /* globs for the qualified name or its last part; NULL = any */
	struct tp_frame_class says;
	bool gives_phase;
	bool is_native;        /* the source is a native module; fits no Python function */
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
