/* SPDX-License-Identifier: Apache-2.0 */
/* Loads tables that resolve numbers. */
#include "table_values.h"

#include "import/reader/text_pattern.h"

#include "trainprof/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A value in a map is the index of a text with this bit set, or else a number. */
#define IS_TEXT (UINT64_C(1) << 63)

const char *tp_table_values_table(const struct tp_table_values *values, const char *name)
{
	char full[256];
	int n = snprintf(full, sizeof(full), "%s%s", name, values->suffix);
	return n > 0 && (size_t)n < sizeof(full) ? tp_sqlite_db_table(values->db, full) : NULL;
}

/* Some makers write numbers as texts. */
static bool text_number(const char *text, size_t len, int64_t *out)
{
	int64_t number = 0;
	for (size_t i = 0; i < len; i++)
		if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, text[i] - '0', &number))
			return false;
	*out = number;
	return len > 0;
}

struct tp_table_value tp_table_value_of_cell(const struct tp_sqlite_cell *cell)
{
	struct tp_table_value value = {0};
	if (cell->type == TP_SQLITE_INTEGER)
		return (struct tp_table_value){.is_known = true, .number = cell->number};
	if (cell->type != TP_SQLITE_TEXT)
		return value;
	value = (struct tp_table_value){.is_known = true, .text = cell->text, .len = cell->len};
	if (!text_number(cell->text, cell->len, &value.number))
		value.number = -1;
	return value;
}

static struct tp_table_reference *reference_find(const struct tp_table_values *values,
						 const struct tp_table_ref *ref)
{
	for (size_t i = 0; i < values->n; i++)
		if (values->references[i].ref == ref)
			return &values->references[i];
	return NULL;
}

static uint64_t value_keep(struct tp_table_values *values, const struct tp_sqlite_cell *cell)
{
	if (cell->type != TP_SQLITE_TEXT)
		return (uint64_t)cell->number & ~IS_TEXT;
	struct tp_table_text text = {.len = cell->len};
	text.text = tp_arena_strndup(&values->arena, cell->text, cell->len);
	TP_ARRAY_PUSH(values->texts, values->n_texts, values->texts_capacity) = text;
	return (uint64_t)(values->n_texts - 1) | IS_TEXT;
}

void tp_table_values_load(struct tp_table_values *values, const struct tp_table_ref *ref)
{
	enum { KEY, VALUE, ONLY, N_COLUMNS };
	const char *columns[N_COLUMNS] = {ref->key, ref->value,
					  ref->only_column ? ref->only_column : ""};
	struct tp_table_reference added = {.ref = ref};
	const char *table = tp_table_values_table(values, ref->table);
	if (reference_find(values, ref))
		return;
	struct tp_sqlite_rows *rows =
		table ? tp_sqlite_rows_open(values->db, table, columns, N_COLUMNS) : NULL;
	const struct tp_sqlite_cell *cells;
	while (rows && (cells = tp_sqlite_rows_next(rows))) {
		bool is_meant =
			!ref->only_column || (cells[ONLY].type == TP_SQLITE_TEXT &&
					      strcmp(cells[ONLY].text, ref->only_text) == 0);
		bool is_value =
			cells[VALUE].type == TP_SQLITE_TEXT ||
			(cells[VALUE].type == TP_SQLITE_INTEGER && cells[VALUE].number >= 0);
		if (is_meant && is_value && cells[KEY].type == TP_SQLITE_INTEGER)
			tp_map_set(&added.values, (uint64_t)cells[KEY].number,
				   value_keep(values, &cells[VALUE]));
	}
	tp_sqlite_rows_close(rows);
	TP_ARRAY_PUSH(values->references, values->n, values->capacity) = added;
}

struct tp_table_value tp_table_values_resolve(const struct tp_table_values *values,
					      const struct tp_table_ref *ref,
					      const struct tp_table_value *key)
{
	const struct tp_table_reference *reference = reference_find(values, ref);
	uint64_t found;
	if (!reference || !key->is_known || key->text_id ||
	    !tp_map_get(&reference->values, (uint64_t)key->number, &found))
		return (struct tp_table_value){0};
	if (!(found & IS_TEXT))
		return (struct tp_table_value){.is_known = true, .number = (int64_t)found};
	const struct tp_table_text *text = &values->texts[found & ~IS_TEXT];
	return (struct tp_table_value){.is_known = true,
				       .text = text->text,
				       .len = text->len,
				       .text_id = (uint32_t)(found & ~IS_TEXT) + 1};
}

void tp_table_values_release(struct tp_table_values *values)
{
	for (size_t i = 0; i < values->n; i++)
		tp_map_release(&values->references[i].values);
	free(values->references);
	free(values->texts);
	tp_arena_release(&values->arena);
}

bool tp_tables_probe(const char *path, const char *const *names, size_t n_names)
{
	struct tp_sqlite_db *db;
	const char *table;
	bool is_found = false;
	if (tp_sqlite_db_open(&db, path, NULL))
		return false;
	for (size_t i = 0; (table = tp_sqlite_db_table_at(db, i)); i++)
		for (size_t k = 0; k < n_names; k++)
			is_found |= tp_text_pattern_match(names[k], table, strlen(table), NULL);
	tp_sqlite_db_close(db);
	return is_found;
}
