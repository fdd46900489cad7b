/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the rows for Python functions and classifies a function. */
#include "python_class.h"

#include "pattern_row.h"
#include "pattern_tables.h"

#include "trainprof/base/memory.h"

#include <string.h>

enum { MAX_PATH = 1024, MAX_NAME = 512 };

static const char *const keys[] = {"source",  "symbol",   "phase",   "leaf",  "root",  "entry",
				   "library", "examples", "because", "doing", "native"};
static const char *const function_names[] = {"none",      "decode",    "augment", "collate",
					     "wait_room", "wait_work", "start",   "wait_child",
					     "wait_task", "train",     "update"};

bool tp_python_pattern_is(const struct tp_pattern_row *row)
{
	return tp_pattern_row_has(row, "source");
}

enum tp_status tp_python_pattern_read(struct tp_python_patterns *out,
				      const struct tp_pattern_row *row, struct tp_error *err)
{
	struct tp_python_pattern pattern = {.file = row->file, .line = tp_pattern_row_line(row)};
	unsigned doing = TP_FUNCTION_NONE;
	enum tp_status status = tp_pattern_row_check_keys(row, keys, TP_ARRAY_LEN(keys), err);
	if (!status)
		status = tp_pattern_row_globs(row, "source", &pattern.source, err);
	if (!status)
		status = tp_pattern_row_globs(row, "symbol", &pattern.symbol, err);
	if (!status)
		status = tp_frame_class_read(row, &pattern.says, err);
	if (!status)
		status = tp_pattern_row_word(row, "doing", function_names,
					     TP_ARRAY_LEN(function_names), &doing, err);
	if (!status)
		status = tp_pattern_row_bool(row, "entry", &pattern.says.is_entry, err);
	if (!status)
		status = tp_pattern_row_bool(row, "library", &pattern.says.is_library, err);
	if (!status)
		status = tp_pattern_row_bool(row, "native", &pattern.is_native, err);
	if (!status)
		status = tp_pattern_row_texts(row, "examples", &pattern.examples, err);
	if (status)
		return status;
	pattern.says.doing = (enum tp_function_kind)doing;
	pattern.gives_phase = tp_pattern_row_has(row, "phase");
	TP_ARRAY_PUSH(out->items, out->n_items, out->capacity) = pattern;
	return TP_OK;
}

struct python_name {
	char path[MAX_PATH];
	char whole[MAX_NAME];
	const char *last; /* "__next__" of "_BaseDataLoaderIter.__next__" */
};

static void prepare(struct python_name *out, const char *path, const char *symbol)
{
	tp_pattern_lower(out->path, sizeof(out->path), path);
	tp_pattern_lower(out->whole, sizeof(out->whole), symbol);
	const char *dot = strrchr(out->whole, '.');
	out->last = dot ? dot + 1 : out->whole;
}

static bool fits(const struct tp_python_pattern *row, const struct python_name *name)
{
	return !row->is_native && tp_pattern_any_glob(row->source, name->path) &&
	       (!row->symbol || tp_pattern_any_glob(row->symbol, name->whole) ||
		tp_pattern_any_glob(row->symbol, name->last));
}

static void add_row(struct tp_frame_class *sum, const struct tp_frame_class *says)
{
	if (!sum->leaf)
		sum->leaf = says->leaf;
	if (!sum->doing)
		sum->doing = says->doing;
	sum->is_loader_root |= says->is_loader_root;
	sum->is_team_root |= says->is_team_root;
	sum->is_comm_root |= says->is_comm_root;
	sum->is_helper_root |= says->is_helper_root;
	sum->is_task_root |= says->is_task_root;
	sum->is_fork_server |= says->is_fork_server;
	sum->is_fetch_root |= says->is_fetch_root;
	sum->is_entry |= says->is_entry;
	sum->is_library |= says->is_library;
}

bool tp_python_class_is_installed(const struct tp_patterns *patterns, const char *path)
{
	char lower[MAX_PATH];
	tp_pattern_lower(lower, sizeof(lower), path);
	for (size_t i = 0; i < patterns->python.n_items; i++) {
		const struct tp_python_pattern *row = &patterns->python.items[i];
		if (row->says.is_library && !row->symbol && tp_pattern_any_glob(row->source, lower))
			return true;
	}
	return false;
}

struct tp_frame_class tp_python_class_find(const struct tp_patterns *patterns, const char *path,
					   const char *symbol)
{
	const struct tp_python_patterns *rows = &patterns->python;
	struct tp_frame_class sum = {0};
	struct python_name name;
	bool has_phase = false;
	prepare(&name, path, symbol);
	for (size_t i = 0; i < rows->n_items; i++) {
		const struct tp_python_pattern *row = &rows->items[i];
		if (!fits(row, &name))
			continue;
		if (!has_phase)
			sum.phase = row->says.phase;
		has_phase |= row->gives_phase;
		add_row(&sum, &row->says);
	}
	if (!has_phase) {
		struct tp_frame_class by_words = tp_patterns_words(patterns, symbol, &has_phase);
		sum.phase = by_words.phase;
		add_row(&sum, &by_words);
	}
	if (!sum.leaf)
		sum.leaf = TP_LEAF_INTERPRETER;
	return sum;
}
