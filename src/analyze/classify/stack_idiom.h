/* SPDX-License-Identifier: Apache-2.0 */
/* Reads from a stack how the code is written: which idiom of rules/idioms/ it shows, and which work
 * is done (rules/patterns/, rows with "work"). */
#ifndef TRAINPROF_SRC_ANALYZE_CLASSIFY_STACK_IDIOM_H
#define TRAINPROF_SRC_ANALYZE_CLASSIFY_STACK_IDIOM_H

#include "frame_glob.h"

#include "analyze/analysis.h"

struct tp_patterns;

enum tp_idiom_glob_use {
	TP_IDIOM_GLOB_STACK, /* must be on the stack, in order from the innermost frame outwards */
	TP_IDIOM_GLOB_NOT,   /* must not be on it */
	TP_IDIOM_GLOB_NOT_CALLER, /* must not be its innermost Python function */
	TP_IDIOM_GLOB_WORK,       /* names the work */
};

struct tp_idiom_glob {
	struct tp_frame_glob frame;
	enum tp_idiom_glob_use use;
	uint16_t owner;    /* index of the variant, or of the work */
	uint16_t position; /* position in the variant's stack */
};

/* One variant of an idiom; all given conditions must hold. */
struct tp_idiom_way {
	uint16_t idiom;
	uint16_t n_frames;
	const char **code;     /* globs for the innermost line of user code, or NULL */
	const char **not_code; /* globs, none of which fits that line, or NULL */
	const char **mentions; /* texts, one of which the file of that line contains, or NULL */
	bool has_capitals;     /* the case of letters counts in `code` */
	bool is_in_loop;       /* that line must be in a loop of its function */
	bool is_by_index;      /* and use an element by the loop's variable */
	bool is_poll;          /* that line must be all that a while loop does */
	bool is_caller;        /* not that line, but one of the user's that called it */
	bool is_growth;        /* that line assigns to an attribute a value derived from it */
	bool is_direct;        /* no Python library function is further in than that line */
	unsigned n_literal;    /* the variant with the highest number wins */
};

struct tp_idiom_example {
	const char **frames;  /* innermost first, NULL-terminated */
	const char *code;     /* "" = not known */
	const char *mentions; /* other text in its file; "" = not known */
	bool is_in_loop;
	bool is_by_index;
	bool is_poll;
	bool fits;
	unsigned line;
};

struct tp_idiom_row {
	const char *id; /* "idiom/tensor-of-arrays" */
	const char *file;
	bool is_replaced; /* replaced by one with the same id in a later folder */
	struct tp_idiom_example *examples;
	size_t n_examples;
};

enum tp_work_kind {
	TP_WORK_OTHER,
	TP_WORK_DECODE,
	TP_WORK_AUGMENT,
	TP_WORK_COLLATE,
	TP_N_WORK_KINDS
};

struct tp_work_row {
	const char *name; /* "JPEG decode" */
	enum tp_work_kind kind;
};

struct tp_idiom_patterns {
	struct tp_idiom_row *idioms;
	size_t n_idioms;
	size_t idioms_capacity;
	struct tp_idiom_way *ways;
	size_t n_ways;
	size_t ways_capacity;
	struct tp_idiom_glob *globs;
	size_t n_globs;
	size_t globs_capacity;
	struct tp_work_row *works;
	size_t n_works;
	size_t works_capacity;
};

enum { TP_NO_IDIOM = UINT16_MAX };

struct tp_stack_reading {
	uint32_t own;   /* frame: the innermost line of user code; 0 = none */
	uint32_t place; /* frame: the line that shows the idiom, else `own` */
	uint16_t idiom; /* index in tp_idiom_patterns, or TP_NO_IDIOM */
	uint16_t work;  /* index in tp_idiom_patterns, the innermost, or TP_NO_IDIOM */
	bool is_shared; /* the stack does not show which of the line's calls it is in */
};

/* Returns one reading for every stack of the trace, in the analysis' arena. */
struct tp_stack_reading *tp_stack_idiom_build(const struct tp_analysis *analysis);

/* The rest is for the loader and the checker of patterns. */

bool tp_work_pattern_is(const struct tp_pattern_row *row); /* has the key "work" */
enum tp_status tp_work_pattern_read(struct tp_idiom_patterns *out, const struct tp_pattern_row *row,
				    struct tp_error *err);
/* Parses "id", "match" and "examples" of a file of rules/idioms/. Other keys belong to the rule. */
enum tp_status tp_idiom_read(struct tp_idiom_patterns *out, const struct tp_pattern_row *row,
			     struct tp_error *err);
/* Errors  TP_PARSE: an example of an idiom does not give the expected result. */
enum tp_status tp_idioms_check(const struct tp_idiom_patterns *rows, struct tp_error *err);
void tp_idiom_patterns_release(struct tp_idiom_patterns *rows);

#endif
