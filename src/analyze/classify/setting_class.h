/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises that a setting or a technique is in use: by variables, words of the command line,
 * programs and threads of the tree, functions in stacks, names of kernels and spans. Uses rows of
 * rules/patterns/ that have "setting"; their keys are documented in rules/patterns/README.md. */
#ifndef TRAINPROF_SRC_ANALYZE_CLASSIFY_SETTING_CLASS_H
#define TRAINPROF_SRC_ANALYZE_CLASSIFY_SETTING_CLASS_H

#include "pattern_row.h"

#include "trainprof/model/fact_id.h"

#include <stdbool.h>
#include <stddef.h>

struct tp_patterns;

/* The text that a row matches; the comments list its name and its second text. */
enum tp_setting_source {
	TP_SETTING_IN_VARIABLE, /* an environment variable: "OMP_PROC_BIND", by its value */
	TP_SETTING_IN_ARGUMENT, /* a word of a command line; none */
	TP_SETTING_IN_PROGRAM,  /* program of a process, without its folder; none */
	TP_SETTING_IN_THREAD,   /* name of a thread; none */
	TP_SETTING_IN_SOURCE,   /* path of a Python file, the function's qualified name */
	TP_SETTING_IN_MODULE, /* library without its folder, the function as the recording has it */
	TP_SETTING_IN_KERNEL, /* a device kernel's whole name; none */
	TP_SETTING_IN_SPAN,   /* name of a span on a thread; none */
	TP_N_SETTING_SOURCES
};

struct tp_setting_pattern {
	tp_fact_id fact;
	enum tp_setting_source look;
	const char **names;    /* NULL-terminated globs in lower case, as the next two */
	const char **further;  /* NULL = any */
	const char **without;  /* excluded second texts, or names if there is none; may be NULL */
	const char **examples; /* as written, or NULL */
	const char *file;
	unsigned line;
};

/* In the order of files and rows. */
struct tp_setting_patterns {
	struct tp_setting_pattern *items;
	size_t n_items;
	size_t capacity;
};

/* Returns true if the row matches these texts; `further` is "" for a source without one. Case does
 * not matter. The body of a Python module never matches: a program that imports a library need not
 * use it. */
bool tp_setting_match(const struct tp_setting_pattern *row, const char *name, const char *further);
/* The same for the name alone: if this is false, the second text is not needed. */
bool tp_setting_can_match(const struct tp_setting_pattern *row, const char *name);

/* The rest is for the loader and the checker of patterns. */

bool tp_setting_pattern_is(const struct tp_pattern_row *row); /* has the key of a setting row */
/* Appends the row: its fact must have the unit "bool", or "ratio" for kernels. Errors  TP_PARSE. */
enum tp_status tp_setting_pattern_read(struct tp_setting_patterns *out,
				       const struct tp_pattern_row *row, struct tp_error *err);
/* Returns true if the row matches the example: "NAME=VALUE", "FILE:FUNCTION", "LIBRARY:FUNCTION",
 * or a name. */
bool tp_setting_match_example(const struct tp_setting_pattern *row, const char *example);

#endif
