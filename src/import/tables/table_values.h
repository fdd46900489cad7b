/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves the numbers of a database with the tables that define them. */
#ifndef TRAINPROF_SRC_IMPORT_TABLES_TABLE_VALUES_H
#define TRAINPROF_SRC_IMPORT_TABLES_TABLE_VALUES_H

#include "import/sqlite/sqlite_db.h"
#include "tables.h"

#include "trainprof/base/arena.h"
#include "trainprof/base/map.h"

/* Times beyond 146 years are damage. */
#define TP_TABLE_TIME_MAX_NS (INT64_C(1) << 62)

/* Nothing, a number, or a text. */
struct tp_table_value {
	bool is_known;
	const char *text; /* NULL = a number; texts of references stay, those of cells do not */
	size_t len;
	int64_t number;
	uint32_t text_id; /* id of a reference's text, plus one; equal if the text is; 0 = none */
};

/* Values of one set of tables. Zero-initialised except for `db` and `suffix` is empty and valid. */
struct tp_table_values {
	struct tp_sqlite_db *db;
	const char *suffix;
	struct tp_table_reference {
		const struct tp_table_ref *ref;
		/* By key: the number, or the index of a text. Keys mostly count up from
		 * `first`. */
		uint64_t first;
		uint64_t *counted; /* heap */
		size_t n_counted;
		size_t counted_capacity;
		struct tp_map others;
	} * references; /* heap */
	size_t n;
	size_t capacity;
	struct tp_arena arena;
	struct tp_table_text {
		const char *text;
		size_t len;
	} * texts; /* heap */
	size_t n_texts;
	size_t texts_capacity;
};

/* Returns the name of a table of this set; NULL if there is none. */
const char *tp_table_values_table(const struct tp_table_values *values, const char *name);
/* Reads all rows that the reference needs. Must run before rows of another table are open. */
void tp_table_values_load(struct tp_table_values *values, const struct tp_table_ref *ref);
void tp_table_value_of_cell(const struct tp_sqlite_cell *cell, struct tp_table_value *out);
/* Replaces a key by what it stands for; by nothing if that is not known. */
void tp_table_values_resolve(const struct tp_table_values *values, const struct tp_table_ref *ref,
			     struct tp_table_value *value);
/* Returns 0 for a number that is unknown, negative or above `most`. */
int64_t tp_table_value_in_range(const struct tp_table_value *value, int64_t most);
/* Returns why the two are no times of an event; NULL if they are. */
const char *tp_table_values_times(const struct tp_table_value *start,
				  const struct tp_table_value *end, uint64_t *start_ns,
				  uint64_t *end_ns);
void tp_table_values_release(struct tp_table_values *values);

#endif
