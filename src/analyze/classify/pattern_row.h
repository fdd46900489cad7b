/* SPDX-License-Identifier: Apache-2.0 */
/* Reading one row of a file of rules/patterns/: its lists, words and texts, and what is wrong. */
#ifndef TRAINPROF_SRC_ANALYZE_CLASSIFY_PATTERN_ROW_H
#define TRAINPROF_SRC_ANALYZE_CLASSIFY_PATTERN_ROW_H

#include "trainprof/base/arena.h"
#include "trainprof/base/json.h"
#include "trainprof/base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* All borrowed; texts that are read live as long as the arena. */
struct tp_pattern_row {
	struct tp_arena *arena;
	const struct tp_json *json;
	const char *file; /* lives as long as the arena */
};

/* What is wrong with a value: "FILE:LINE: what 'word'; nearest: nearest" (NULL: none is near). */
enum tp_status tp_pattern_row_fail(const struct tp_pattern_row *row, const struct tp_json *at,
				   const char *what, const char *word, const char *nearest,
				   struct tp_error *err);

bool tp_pattern_row_has(const struct tp_pattern_row *row, const char *key);
unsigned tp_pattern_row_line(const struct tp_pattern_row *row);

/* Fails at the first key that is none of the n. */
enum tp_status tp_pattern_row_check_keys(const struct tp_pattern_row *row, const char *const *keys,
					 size_t n, struct tp_error *err);

/* Which of the n words a text is. */
enum tp_status tp_pattern_row_find_word(const struct tp_pattern_row *row,
					const struct tp_json *value, const char *const *words,
					size_t n, unsigned *out, struct tp_error *err);

/* The four below leave *out alone when the row does not have the key. */
enum tp_status tp_pattern_row_word(const struct tp_pattern_row *row, const char *key,
				   const char *const *words, size_t n, unsigned *out,
				   struct tp_error *err);
enum tp_status tp_pattern_row_bool(const struct tp_pattern_row *row, const char *key, bool *out,
				   struct tp_error *err);
/* Lists end with NULL. Texts as they are; globs in small letters. */
enum tp_status tp_pattern_row_texts(const struct tp_pattern_row *row, const char *key,
				    const char ***out, struct tp_error *err);
enum tp_status tp_pattern_row_globs(const struct tp_pattern_row *row, const char *key,
				    const char ***out, struct tp_error *err);

/* A text that may be neither missing nor empty. */
enum tp_status tp_pattern_row_name(const struct tp_pattern_row *row, const char *key,
				   const char **out, struct tp_error *err);

/* Small letters, cut when too long; gives back out. */
const char *tp_pattern_lower(char *out, size_t size, const char *text);

#endif
