/* SPDX-License-Identifier: Apache-2.0 */
/* Determines what a counter of a Python program counts, by its name: rows of rules/patterns/ that
 * have "counts"; their keys are documented in rules/patterns/README.md. */
#ifndef TRAINPROF_SRC_ANALYZE_CLASSIFY_COUNTER_CLASS_H
#define TRAINPROF_SRC_ANALYZE_CLASSIFY_COUNTER_CLASS_H

#include "pattern_row.h"

#include "trainprof/analyze/analyze.h"

#include <stdbool.h>
#include <stddef.h>

enum tp_counter_meaning {
	TP_COUNTS_UNKNOWN,
	TP_COUNTS_STEPS,
	TP_COUNTS_BATCHES, /* steps, however often it restarts */
	TP_COUNTS_EPOCHS,
	TP_COUNTS_PARTS, /* parts of a step: layers, micro-batches */
	TP_N_COUNTER_MEANINGS,
};

/* Returns the meaning of an attribute or a variable. Patterns may be NULL. */
enum tp_counter_meaning tp_counter_meaning_find(const struct tp_patterns *patterns,
						bool is_attribute, const char *name);

/* The rest is for the loader and the checker of patterns. */

struct tp_counter_pattern {
	enum tp_counter_meaning meaning;
	bool is_attribute;
	const char **names;    /* NULL-terminated globs */
	const char **examples; /* may be NULL */
	const char *file;
	unsigned line;
};

struct tp_counter_patterns {
	struct tp_counter_pattern *items; /* heap */
	size_t n_items;
	size_t capacity;
};

bool tp_counter_pattern_is(const struct tp_pattern_row *row);
/* Appends the row. Errors  TP_PARSE. */
enum tp_status tp_counter_pattern_read(struct tp_counter_patterns *out,
				       const struct tp_pattern_row *row, struct tp_error *err);

#endif
