/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the rows for counters, and finds the one that matches a name. */
#include "counter_class.h"

#include "pattern_tables.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

enum { MAX_NAME = 128 };

static const char *const keys[] = {"counts", "variable", "attribute", "examples", "because"};
static const char *const meanings[TP_N_COUNTER_MEANINGS] = {
	[TP_COUNTS_UNKNOWN] = "unknown", [TP_COUNTS_STEPS] = "steps",
	[TP_COUNTS_BATCHES] = "batches", [TP_COUNTS_EPOCHS] = "epochs",
	[TP_COUNTS_PARTS] = "parts",
};

bool tp_counter_pattern_is(const struct tp_pattern_row *row)
{
	return tp_pattern_row_has(row, "counts");
}

enum tp_status tp_counter_pattern_read(struct tp_counter_patterns *out,
				       const struct tp_pattern_row *row, struct tp_error *err)
{
	struct tp_counter_pattern pattern = {.file = row->file, .line = tp_pattern_row_line(row)};
	unsigned meaning = 0;
	enum tp_status status = tp_pattern_row_check_keys(row, keys, TP_ARRAY_LEN(keys), err);
	if (!status)
		status = tp_pattern_row_word(row, "counts", meanings, TP_N_COUNTER_MEANINGS,
					     &meaning, err);
	pattern.meaning = (enum tp_counter_meaning)meaning;
	pattern.is_attribute = tp_pattern_row_has(row, "attribute");
	if (!status && pattern.is_attribute == tp_pattern_row_has(row, "variable"))
		status = tp_pattern_row_fail(row, row->json, "a row of counters is about one of",
					     "variable, attribute", NULL, err);
	if (!status)
		status = tp_pattern_row_globs(row, pattern.is_attribute ? "attribute" : "variable",
					      &pattern.names, err);
	if (!status)
		status = tp_pattern_row_texts(row, "examples", &pattern.examples, err);
	if (!status)
		TP_ARRAY_PUSH(out->items, out->n_items, out->capacity) = pattern;
	return status;
}

enum tp_counter_meaning tp_counter_meaning_find(const struct tp_patterns *patterns,
						bool is_attribute, const char *name)
{
	char lower[MAX_NAME];
	tp_pattern_lower(lower, sizeof(lower), name);
	for (size_t i = 0; patterns && i < patterns->counters.n_items; i++) {
		const struct tp_counter_pattern *row = &patterns->counters.items[i];
		for (const char **glob = row->names; *glob; glob++)
			if (row->is_attribute == is_attribute && tp_text_glob(*glob, lower))
				return row->meaning;
	}
	return TP_COUNTS_UNKNOWN;
}
