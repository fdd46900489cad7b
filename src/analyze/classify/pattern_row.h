/* SPDX-License-Identifier: Apache-2.0 */
/* Parses one row of a file of rules/patterns/: its lists, words and texts, and reports errors in
 * it. */
#ifndef TRAINPROF_SRC_ANALYZE_CLASSIFY_PATTERN_ROW_H
#define TRAINPROF_SRC_ANALYZE_CLASSIFY_PATTERN_ROW_H

#include "trainprof/base/arena.h"
#include "trainprof/base/json.h"
#include "trainprof/base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* All members are borrowed; texts that are parsed live as long as the arena. */
struct tp_pattern_row {
	struct tp_arena *arena;
	const struct tp_json *json;
	const char *file; /* lives as long as the arena */
};

/* Sets the error for a value: "FILE:LINE: what 'word'; nearest: nearest" (NULL = none is near). */
enum tp_status tp_pattern_row_fail(const struct tp_pattern_row *row, const struct tp_json *at,
				   const char *what, const char *word, const char *nearest,
				   struct tp_error *err);

bool tp_pattern_row_has(const struct tp_pattern_row *row, const char *key);
unsigned tp_pattern_row_line(const struct tp_pattern_row *row);

/* Fails at the first key that is not one of the n. */
enum tp_status tp_pattern_row_check_keys(const struct tp_pattern_row *row, const char *const *keys,
					 size_t n, struct tp_error *err);

/* Finds the index of a text among the n words. */
enum tp_status tp_pattern_row_find_word(const struct tp_pattern_row *row,
					const struct tp_json *value, const char *const *words,
					size_t n, unsigned *out, struct tp_error *err);

/* The four functions below leave *out unchanged if the row does not have the key. */
enum tp_status tp_pattern_row_word(const struct tp_pattern_row *row, const char *key,
				   const char *const *words, size_t n, unsigned *out,
				   struct tp_error *err);
enum tp_status tp_pattern_row_bool(const struct tp_pattern_row *row, const char *key, bool *out,
				   struct tp_error *err);
/* Lists end with NULL. Texts stay as they are; globs are converted to lower case. */
enum tp_status tp_pattern_row_texts(const struct tp_pattern_row *row, const char *key,
				    const char ***out, struct tp_error *err);
enum tp_status tp_pattern_row_globs(const struct tp_pattern_row *row, const char *key,
				    const char ***out, struct tp_error *err);

/* A text that must be present and not empty. */
enum tp_status tp_pattern_row_name(const struct tp_pattern_row *row, const char *key,
				   const char **out, struct tp_error *err);

/* Returns false if the first letter already excludes a match, as it mostly does. */
static inline bool tp_pattern_may_match(const char *glob, const char *text)
{
	return *glob == *text || *glob == '*' || *glob == '?';
}

/* Returns true if any glob of a list that ends with NULL matches the text. */
bool tp_pattern_any_glob(const char *const *globs, const char *text);

/* Converts to lower case, truncates if too long; returns out. */
const char *tp_pattern_lower(char *out, size_t size, const char *text);

#endif
