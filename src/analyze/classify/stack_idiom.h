/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a stack says about how the code is written: which idiom of rules/idioms/ it shows, and
 * what is worked on in it (rules/patterns/, rows with "work").
 */
#ifndef TRAINPROF_SRC_ANALYZE_CLASSIFY_STACK_IDIOM_H
#define TRAINPROF_SRC_ANALYZE_CLASSIFY_STACK_IDIOM_H

#include "frame_glob.h"

#include "analyze/analysis.h"

struct tp_patterns;

enum tp_idiom_glob_use {
	TP_IDIOM_GLOB_STACK, /* must be on the stack, in order from the innermost out */
	TP_IDIOM_GLOB_NOT,   /* must not be on it */
	TP_IDIOM_GLOB_WORK,  /* names what is worked on */
};

struct tp_idiom_glob {
	struct tp_frame_glob frame;
	enum tp_idiom_glob_use use;
	uint16_t owner;    /* way, or work */
	uint16_t position; /* in the way's stack */
};

/* One way in which an idiom shows; all that is given must hold. */
struct tp_idiom_way {
	uint16_t idiom;
	uint16_t n_frames;
	const char **code;     /* globs for the innermost line of the user's own, or NULL */
	const char **mentions; /* texts, one of which the file of that line holds, or NULL */
	bool is_in_loop;       /* that line must be in a loop of its function */
	bool is_growth;        /* that line assigns to an attribute what is made of it too */
	bool is_direct;        /* no Python function of a library further in than that line */
	unsigned n_literal;    /* the way with more of them wins */
};

struct tp_idiom_example {
	const char **frames;  /* innermost first, ended by NULL */
	const char *code;     /* "" = not known */
	const char *mentions; /* what else stands in its file; "" = not known */
	bool is_in_loop;
	bool fits;
	unsigned line;
};

struct tp_idiom_row {
	const char *id; /* "idiom/tensor-of-arrays" */
	const char *file;
	bool is_replaced; /* by one of the same id of a later folder */
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
	uint32_t own;   /* frame: the innermost line of the user's own; 0 = none */
	uint16_t idiom; /* of tp_idiom_patterns; TP_NO_IDIOM */
	uint16_t work;  /* of tp_idiom_patterns, the innermost; TP_NO_IDIOM */
};

/* One for every stack of the trace, in the analysis' arena. */
struct tp_stack_reading *tp_stack_idiom_build(const struct tp_analysis *analysis);

/* The rest is for the loader and the checker of patterns. */

bool tp_work_pattern_is(const struct tp_pattern_row *row); /* has it the key "work"? */
enum tp_status tp_work_pattern_read(struct tp_idiom_patterns *out, const struct tp_pattern_row *row,
				    struct tp_error *err);
/* What a file of rules/idioms/ says of stacks: "id", "match", "examples". Other keys are the
 * rule's. */
enum tp_status tp_idiom_read(struct tp_idiom_patterns *out, const struct tp_pattern_row *row,
			     struct tp_error *err);
/* Errors  TP_PARSE: an example of an idiom does not come out as it says. */
enum tp_status tp_idioms_check(const struct tp_idiom_patterns *rows, struct tp_error *err);
void tp_idiom_patterns_release(struct tp_idiom_patterns *rows);

#endif
