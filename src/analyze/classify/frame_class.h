/* SPDX-License-Identifier: Apache-2.0 */
/* Classifies frames, marks, files, programs and threads by their names. */
#ifndef TRAINPROF_SRC_ANALYZE_CLASSIFY_FRAME_CLASS_H
#define TRAINPROF_SRC_ANALYZE_CLASSIFY_FRAME_CLASS_H

#include "analyze/analysis.h"
#include "pattern_row.h"

/* The classification of one frame. TP_LEAF_CALLER: the frame has none of its own, its caller
 * decides. */
enum { TP_LEAF_CALLER = TP_N_LEAVES };

struct tp_frame_class {
	enum tp_phase phase;
	unsigned leaf; /* enum tp_leaf or TP_LEAF_CALLER */
	bool is_loader_root;
	bool is_team_root;
	bool is_comm_root;
	bool is_helper_root;
	bool is_task_root;
	bool is_fork_server;
	bool is_fetch_root;
	bool is_entry; /* Python: work begins here; outer frames belong to the parent of the fork */
	bool is_library; /* not user code */
	enum tp_function_kind doing;
};

/* The kind of a file that a thread reads or writes, by its name. */
enum tp_file_kind { TP_FILE_UNKNOWN, TP_FILE_DATA, TP_FILE_CHECKPOINT, TP_FILE_LOG };

/* module is a path or "[kernel]"; symbol may be "". Case does not matter. */
struct tp_frame_class tp_patterns_frame(const struct tp_patterns *patterns, const char *module,
					const char *symbol);
/* Matches by symbol and words only; ignores rows with a module and the leaf of a row. `symbol` has
 * dots. *gives_phase distinguishes the phase "none" from no match. */
struct tp_frame_class tp_patterns_words(const struct tp_patterns *patterns, const char *symbol,
					bool *gives_phase);
enum tp_phase tp_patterns_mark(const struct tp_patterns *patterns, const char *mark);
enum tp_file_kind tp_patterns_file(const struct tp_patterns *patterns, const char *path);
/* Role by the name of the program or thread; false if no pattern matches. */
bool tp_patterns_is_launcher(const struct tp_patterns *patterns, const char *program);
enum tp_thread_role tp_patterns_thread(const struct tp_patterns *patterns, const char *comm);
bool tp_patterns_is_interpreter(const struct tp_patterns *patterns, const char *program);

const char *tp_phase_name(enum tp_phase phase); /* "dataloader" */
/* Parses the keys "phase", "leaf" and "root" of a row; does not change members without a key. */
enum tp_status tp_frame_class_read(const struct tp_pattern_row *row, struct tp_frame_class *out,
				   struct tp_error *err);

/* The rest is for the loader of patterns. */

/* One row: all given conditions must match, then `says` is the result. Lists end with NULL. */
struct tp_frame_pattern {
	const char **module;
	const char **symbol;
	const char **verbs; /* with nouns: the name contains a word of each, "read_next_row" */
	const char **nouns;
	const char **mark;
	const char **file;
	const char **program;
	const char **thread;
	bool gives_phase; /* also "none": later rows do not change the phase */
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

/* Appends the row. Errors  TP_PARSE. */
enum tp_status tp_frame_pattern_read(struct tp_frame_patterns *out,
				     const struct tp_pattern_row *row, struct tp_error *err);

#endif
