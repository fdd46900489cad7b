/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers that rules compare with, by name, each with its source (rules/thresholds.json). */
#ifndef TRAINPROF_SRC_ADVISE_CONDITION_THRESHOLD_H
#define TRAINPROF_SRC_ADVISE_CONDITION_THRESHOLD_H

#include "dimension.h"

#include "trainprof/base/arena.h"
#include "trainprof/base/json.h"

#include <stddef.h>

struct tp_threshold {
	const char *name;
	const char *written; /* "5%" */
	double value;        /* base units */
	struct tp_dimension dimension;
	const char *why;
	const char *source; /* origin of the number, or NULL = our own choice, see why */
	const char *checked;
	const char *path; /* file it was read from */
};

/* All texts live in the arena of tp_thresholds_read(). Zero-initialised is empty. */
struct tp_thresholds {
	struct tp_threshold *items;
	size_t n_items;
	size_t items_capacity; /* heap */
};

void tp_thresholds_release(struct tp_thresholds *thresholds);
/* Adds the array `list` of a document; replaces existing names.
 * Errors  TP_PARSE. */
TP_MUST_CHECK enum tp_status tp_thresholds_read(struct tp_thresholds *thresholds,
						const struct tp_json_doc *doc,
						const struct tp_json *list, struct tp_arena *arena,
						struct tp_error *err);
/* NULL if there is none. */
const struct tp_threshold *tp_thresholds_find(const struct tp_thresholds *thresholds,
					      const char *name);
const char *tp_thresholds_nearest(const struct tp_thresholds *thresholds, const char *name);
/* Returns a threshold that the engine itself needs; `otherwise` if the rulebook does not define
 * it. */
double tp_thresholds_value(const struct tp_thresholds *thresholds, const char *name,
			   double otherwise);

#endif
