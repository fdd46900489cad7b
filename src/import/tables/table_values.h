/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves the numbers of a database with the tables that define them. */
#ifndef TRAINPROF_SRC_IMPORT_TABLES_TABLE_VALUES_H
#define TRAINPROF_SRC_IMPORT_TABLES_TABLE_VALUES_H

#include "import/sqlite/sqlite_db.h"
#include "tables.h"

#include "trainprof/base/arena.h"
#include "trainprof/base/map.h"

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
		struct tp_map values; /* key -> the number, or the index of a text */
	} * references;               /* heap */
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
struct tp_table_value tp_table_value_of_cell(const struct tp_sqlite_cell *cell);
struct tp_table_value tp_table_values_resolve(const struct tp_table_values *values,
					      const struct tp_table_ref *ref,
					      const struct tp_table_value *key);
void tp_table_values_release(struct tp_table_values *values);

#endif
