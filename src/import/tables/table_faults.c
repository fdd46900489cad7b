/* SPDX-License-Identifier: Apache-2.0 */
/* Newer schemas move columns: a message names the schema and the column. */
#include "table_faults.h"

#include "trainprof/base/memory.h"

#include <string.h>

static bool is_table(const struct tp_table_dialect *dialect, const char *found, const char *name)
{
	return dialect->suffixed ? strncmp(found, name, strlen(name)) == 0
				 : strcmp(found, name) == 0;
}

typedef const char *(*names_at)(const struct tp_sqlite_db *db, size_t n);

/* Returns the first table, or view, of that name, of any set; NULL = none. */
static const char *find(const struct tp_sqlite_db *db, names_at at,
			const struct tp_table_dialect *dialect, const char *name)
{
	const char *found;
	for (size_t i = 0; name && (found = at(db, i)); i++)
		if (is_table(dialect, found, name))
			return found;
	return NULL;
}

static void reason_begin(struct tp_buf *out, size_t *n)
{
	tp_buf_puts(out, (*n)++ ? ", " : ": ");
}

static void version_add(struct tp_buf *out, struct tp_sqlite_db *db,
			const struct tp_table_dialect *dialect, size_t *n)
{
	enum { TAG, VALUE, N_COLUMNS };
	const struct tp_table_version *version = &dialect->version;
	const char *columns[N_COLUMNS] = {version->tag, version->value};
	const char *table = find(db, tp_sqlite_db_table_at, dialect, version->table);
	struct tp_sqlite_rows *rows =
		table ? tp_sqlite_rows_open(db, table, columns, N_COLUMNS) : NULL;
	const struct tp_sqlite_cell *cells;
	while (rows && (cells = tp_sqlite_rows_next(rows))) {
		if (cells[TAG].type != TP_SQLITE_TEXT || cells[VALUE].type != TP_SQLITE_TEXT ||
		    strcmp(cells[TAG].text, version->wanted) != 0)
			continue;
		reason_begin(out, n);
		tp_buf_printf(out, "schema %.20s", cells[VALUE].text);
		break;
	}
	tp_sqlite_rows_close(rows);
}

static bool has_column(struct tp_sqlite_db *db, const char *table, const char *names)
{
	struct tp_sqlite_rows *rows = names ? tp_sqlite_rows_open(db, table, &names, 1) : NULL;
	tp_sqlite_rows_close(rows);
	return rows != NULL;
}

static void columns_add(struct tp_buf *out, struct tp_sqlite_db *db, const struct tp_table *table,
			const char *name, size_t *n)
{
	static const enum tp_table_role needed[] = {TP_TABLE_START, TP_TABLE_END, TP_TABLE_DEVICE};
	for (size_t r = 0; r < TP_ARRAY_LEN(needed); r++) {
		const struct tp_table_column *column = &table->columns[needed[r]];
		if (!column->names || has_column(db, name, column->names) ||
		    (column->by_track &&
		     has_column(db, name, table->columns[TP_TABLE_TRACK].names)))
			continue;
		reason_begin(out, n);
		tp_buf_printf(out, "table %s has no column '%.*s'", name,
			      (int)strcspn(column->names, "|"), column->names);
	}
}

void tp_table_faults_add(struct tp_buf *out, struct tp_sqlite_db *db,
			 const struct tp_table_dialect *dialect)
{
	const char *damage = tp_sqlite_db_error(db);
	size_t n = 0;
	if (damage) {
		reason_begin(out, &n);
		tp_buf_puts(out, damage);
	}
	version_add(out, db, dialect, &n);
	for (size_t i = 0; i < dialect->n_tables; i++) {
		const struct tp_table *table = &dialect->tables[i];
		if (!table->is_device)
			continue;
		const char *found = find(db, tp_sqlite_db_table_at, dialect, table->name);
		const char *view = find(db, tp_sqlite_db_view_at, dialect, table->name);
		if (found) {
			columns_add(out, db, table, found, &n);
		} else if (view) {
			reason_begin(out, &n);
			tp_buf_printf(out, "%s is a view, and statements of a file are not run",
				      view);
		}
	}
}
