/* SPDX-License-Identifier: Apache-2.0 */
/* What frames, marks, files, programs and threads mean by their names. */
#ifndef TRAINPROF_SRC_ANALYZE_CLASSIFY_FRAME_CLASS_H
#define TRAINPROF_SRC_ANALYZE_CLASSIFY_FRAME_CLASS_H

#include "analyze/analysis.h"
#include "pattern_row.h"

/* What one frame says. TP_LEAF_CALLER: nothing by itself, look at who called it. */
enum { TP_LEAF_CALLER = TP_N_LEAVES };

struct tp_frame_class {
	enum tp_phase phase;
	unsigned leaf; /* enum tp_leaf or TP_LEAF_CALLER */
	bool is_loader_root;
	bool is_team_root;
	bool is_comm_root;
	bool is_helper_root;
	bool is_entry;   /* Python: work begins here; further out is what forked the process */
	bool is_library; /* Python: not the user's own code */
	enum tp_function_kind doing;
};

/* What a file name says when a thread reads or writes it. */
enum tp_file_kind { TP_FILE_UNKNOWN, TP_FILE_DATA, TP_FILE_CHECKPOINT, TP_FILE_LOG };

/* module is a path or "[kernel]"; symbol may be "". Case does not matter. */
struct tp_frame_class tp_patterns_frame(const struct tp_patterns *patterns, const char *module,
					const char *symbol);
/* By symbol and words alone: rows with a module, and what a row says of leaves, are not for it.
 * `symbol` has dots; *gives_phase tells "none" from nothing. */
struct tp_frame_class tp_patterns_words(const struct tp_patterns *patterns, const char *symbol,
					bool *gives_phase);
enum tp_phase tp_patterns_mark(const struct tp_patterns *patterns, const char *mark);
enum tp_file_kind tp_patterns_file(const struct tp_patterns *patterns, const char *path);
/* Role by the program's name or the thread's name; false when no pattern knows it. */
bool tp_patterns_is_launcher(const struct tp_patterns *patterns, const char *program);
enum tp_thread_role tp_patterns_thread(const struct tp_patterns *patterns, const char *comm);
bool tp_patterns_is_interpreter(const struct tp_patterns *patterns, const char *program);

const char *tp_phase_name(enum tp_phase phase); /* "dataloader" */
/* What a row says of frames: "phase", "leaf", "root"; leaves alone what it does not say. */
enum tp_status tp_frame_class_read(const struct tp_pattern_row *row, struct tp_frame_class *out,
				   struct tp_error *err);

/* The rest is for the loader of patterns. */

/* One row: everything that is given must match; the answer it gives. Lists end with NULL. */
struct tp_frame_pattern {
	const char **module;
	const char **symbol;
	const char **verbs; /* with nouns: a name that has a word of each, "read_next_row" */
	const char **nouns;
	const char **mark;
	const char **file;
	const char **program;
	const char **thread;
	bool gives_phase; /* also "none": no later row has a say */
	struct tp_frame_class says;
	enum tp_file_kind file_kind;
	bool is_launcher;
	bool is_interpreter;
};

/* In the order of files and rows. */
struct tp_frame_patterns {
	struct tp_frame_pattern *items;
	size_t n_items;
	size_t capacity;
};

/* Append what the row says. Errors  TP_PARSE. */
enum tp_status tp_frame_pattern_read(struct tp_frame_patterns *out,
				     const struct tp_pattern_row *row, struct tp_error *err);

#endif
