/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns for single frames, written as one text, and the frames of a trace that they match:
 *
 *   c:MODULE:FUNCTION    a native function; the library or program without its folder
 *   k:FUNCTION           a function of the kernel
 *   py:FILE:FUNCTION     a Python function of an installed library or the standard library; the
 *                        file below site-packages, dist-packages or lib/python3.x
 *   own:FUNCTION         a Python function in a file of the user
 *
 * FILE, MODULE and FUNCTION are globs; "a|b" matches either. Case does not matter. A Python
 * function matches by its qualified name or by the last part of it.
 */
#ifndef TRAINPROF_SRC_ANALYZE_CLASSIFY_FRAME_GLOB_H
#define TRAINPROF_SRC_ANALYZE_CLASSIFY_FRAME_GLOB_H

#include "pattern_row.h"

#include "trainprof/model/trace.h"

enum tp_glob_place {
	TP_GLOB_NATIVE,
	TP_GLOB_KERNEL,
	TP_GLOB_LIBRARY, /* Python */
	TP_GLOB_OWN,     /* Python */
	TP_N_GLOB_PLACES /* place of a frame that no pattern can match */
};

struct tp_frame_glob {
	enum tp_glob_place place;
	const char **where;    /* NULL-terminated; NULL for the kernel and user files */
	const char **function; /* NULL-terminated */
	unsigned n_literal;    /* number of required characters: how specific it is */
};

/* Texts live as long as the row's arena. Errors  TP_PARSE with file and line. */
enum tp_status tp_frame_glob_read(struct tp_frame_glob *out, const struct tp_pattern_row *row,
				  const struct tp_json *text, struct tp_error *err);

/* A frame in the form that patterns match. `where` and `function` are borrowed. */
struct tp_glob_subject {
	enum tp_glob_place place;
	const char *where; /* "" for the kernel and user files */
	const char *function;
};

struct tp_glob_subject tp_glob_subject_of(const struct tp_trace *trace,
					  const struct tp_frame *frame, bool is_own);
/* Parses a frame written as "c:libjpeg.so.62:decode", "py:/usr/lib/…/json/__init__.py:loads",
 * "own:collate" or "k:vfs_fsync". Returns false if the text has another form. Modifies `text`. */
bool tp_glob_subject_parse(struct tp_glob_subject *out, char *text);

/* Returns true if FILE or MODULE match; names must be in lower case. */
bool tp_frame_glob_fits_file(const struct tp_frame_glob *glob, enum tp_glob_place place,
			     const char *where);
bool tp_frame_glob_fits_function(const struct tp_frame_glob *glob, const char *function);
/* Matches both, for names in any case. */
bool tp_frame_glob_fits(const struct tp_frame_glob *glob, const struct tp_glob_subject *subject);

#endif
