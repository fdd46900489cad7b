/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds traces in folders that profilers write: `plugins/profile/TIME/HOST.xplane.pb` of XProf
 * below the given folder, Ascend's ASCEND_PROFILER_OUTPUT, and folders with one trace or folder per
 * rank.
 */
#ifndef TRAINPROF_IMPORT_TRACE_FOLDER_H
#define TRAINPROF_IMPORT_TRACE_FOLDER_H

#include "trainprof/base/arena.h"

#include <stddef.h>

struct tp_trace_files {
	const char **paths; /* in the arena */
	size_t n;
	const char *chosen; /* the folder that was chosen as the newest of several; NULL */
	size_t n_choices;
};

/* Replaces each folder among the paths by its traces, in the order of their names; if a trace
 * exists in two forms, the more detailed one is used. A folder with traces of several makers also
 * yields one of each other maker, which tp_import_files() refuses. With `format` only traces with
 * the names of that format are taken, if there are any (NULL = all names). Other paths, and folders
 * without a trace, stay. */
void tp_trace_folder_expand(struct tp_trace_files *out, const char *const *paths, size_t n,
			    const char *format, struct tp_arena *arena);

#endif
