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
#define ABSENT  UINT64_MAX

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

/* Fields are set one by one: a whole value that is copied while its stores are under way costs more
 * than all else. */
void tp_table_value_of_cell(const struct tp_sqlite_cell *cell, struct tp_table_value *out)
{
	bool is_text = cell->type == TP_SQLITE_TEXT;
	out->is_known = is_text || cell->type == TP_SQLITE_INTEGER;
	out->text = is_text ? cell->text : NULL;
	out->len = is_text ? cell->len : 0;
	out->number = cell->number;
	out->text_id = 0;
	if (is_text && !text_number(cell->text, cell->len, &out->number))
		out->number = -1;
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

/* Keys that do not count up go to the map: an array of theirs could have any size. */
static void reference_set(struct tp_table_reference *reference, uint64_t key, uint64_t value)
{
	enum { GAP_MAX = 64 };
	if (!reference->n_counted)
		reference->first = key;
	uint64_t place = key - reference->first;
	if (place < reference->n_counted) {
		reference->counted[place] = value;
		return;
	}
	if (place - reference->n_counted > GAP_MAX) {
		tp_map_set(&reference->others, key, value);
		return;
	}
	while (reference->n_counted < place)
		TP_ARRAY_PUSH(reference->counted, reference->n_counted,
			      reference->counted_capacity) = ABSENT;
	TP_ARRAY_PUSH(reference->counted, reference->n_counted, reference->counted_capacity) =
		value;
}

static bool reference_get(const struct tp_table_reference *reference, uint64_t key, uint64_t *value)
{
	uint64_t place = key - reference->first;
	if (place < reference->n_counted && reference->counted[place] != ABSENT) {
		*value = reference->counted[place];
		return true;
	}
	return tp_map_get(&reference->others, key, value);
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
			reference_set(&added, (uint64_t)cells[KEY].number,
				      value_keep(values, &cells[VALUE]));
	}
	tp_sqlite_rows_close(rows);
	TP_ARRAY_PUSH(values->references, values->n, values->capacity) = added;
}

void tp_table_values_resolve(const struct tp_table_values *values, const struct tp_table_ref *ref,
			     struct tp_table_value *value)
{
	const struct tp_table_reference *reference = reference_find(values, ref);
	uint64_t found;
	bool is_found = reference && value->is_known && !value->text_id &&
			reference_get(reference, (uint64_t)value->number, &found);
	value->is_known = is_found;
	value->text = NULL;
	value->len = 0;
	value->text_id = 0;
	value->number = 0;
	if (!is_found)
		return;
	if (!(found & IS_TEXT)) {
		value->number = (int64_t)found;
		return;
	}
	value->text = values->texts[found & ~IS_TEXT].text;
	value->len = values->texts[found & ~IS_TEXT].len;
	value->text_id = (uint32_t)(found & ~IS_TEXT) + 1;
}

int64_t tp_table_value_in_range(const struct tp_table_value *value, int64_t most)
{
	return value->is_known && value->number >= 0 && value->number <= most ? value->number : 0;
}

const char *tp_table_values_times(const struct tp_table_value *start,
				  const struct tp_table_value *end, uint64_t *start_ns,
				  uint64_t *end_ns)
{
	if (!start->is_known || !end->is_known)
		return "an event has no start or no end";
	if (end->number < start->number)
		return "an event ends before it starts";
	if (start->number <= 0 || end->number > TP_TABLE_TIME_MAX_NS)
		return "an event has a time that cannot be";
	*start_ns = (uint64_t)start->number;
	*end_ns = (uint64_t)end->number;
	return NULL;
}

void tp_table_values_release(struct tp_table_values *values)
{
	for (size_t i = 0; i < values->n; i++) {
		free(values->references[i].counted);
		tp_map_release(&values->references[i].others);
	}
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
