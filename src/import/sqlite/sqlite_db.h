/* SPDX-License-Identifier: Apache-2.0 */
/* Reads rows of an SQLite file that may be truncated, damaged or hostile. No files are written next
 * to it, no view, trigger, virtual table or generated column of it is ever run, and a table yields
 * no more rows and text than a file of its size can hold. */
#ifndef TRAINPROF_SRC_IMPORT_SQLITE_SQLITE_DB_H
#define TRAINPROF_SRC_IMPORT_SQLITE_SQLITE_DB_H

#include "trainprof/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_sqlite_db;
struct tp_sqlite_rows;

enum { TP_SQLITE_COLUMNS_MAX = 16 };

enum tp_sqlite_type { TP_SQLITE_NULL, TP_SQLITE_INTEGER, TP_SQLITE_TEXT, TP_SQLITE_OTHER };

struct tp_sqlite_cell {
	enum tp_sqlite_type type;
	int64_t number;   /* of an integer, else 0 */
	const char *text; /* unchanged bytes up to a NUL, borrowed until the next row */
	size_t len;
};

/* Returns true if a file that begins with these bytes is a database. */
bool tp_sqlite_head(const unsigned char *head, size_t size);

/*
 * Opens the file for reading. A truncated file is opened, too: its existing part can be read.
 *
 * Errors  TP_ABSENT (no such file; built without SQLite), TP_DENIED, TP_IO, TP_PARSE (not SQLite,
 * or encrypted, or damaged at its root), with the command to type next.
 */
TP_MUST_CHECK enum tp_status tp_sqlite_db_open(struct tp_sqlite_db **out, const char *path,
					       struct tp_error *err);
void tp_sqlite_db_close(struct tp_sqlite_db *db); /* NULL is allowed */

/* Returns a description of the damage found so far; NULL if there is none. Static storage. */
const char *tp_sqlite_db_error(const struct tp_sqlite_db *db);
/* Returns the number of readable tables, without views and virtual tables. */
size_t tp_sqlite_db_n_tables(const struct tp_sqlite_db *db);
/* Returns the name of the database's n-th known table; NULL beyond the last. */
const char *tp_sqlite_db_table_at(const struct tp_sqlite_db *db, size_t n);
/* Returns the table with that name, otherwise the newest of its _V2, _V3 and so on; NULL if there
 * is none. */
const char *tp_sqlite_db_table(const struct tp_sqlite_db *db, const char *name);
/* Returns the n-th view or virtual table, or NULL. */
const char *tp_sqlite_db_view_at(const struct tp_sqlite_db *db, size_t n);
/* Returns true if there is a view or a virtual table instead, which is not read. */
bool tp_sqlite_db_has_view(const struct tp_sqlite_db *db, const char *name);

/*
 * Opens all rows of a table, in the order of the table. A column is given by the names it has had,
 * the best one first: "demangledName|shortName|name"; a cell is the first of them that is not NULL
 * in its row, NULL if no such column exists.
 *
 * Returns NULL if there is no such table or none of its columns; closed by tp_sqlite_rows_close().
 * Only one can be open at a time.
 */
struct tp_sqlite_rows *tp_sqlite_rows_open(struct tp_sqlite_db *db, const char *table,
					   const char *const *columns, size_t n_columns);
/* Returns the next row's cells, as many as columns; NULL at the end or at damage. */
const struct tp_sqlite_cell *tp_sqlite_rows_next(struct tp_sqlite_rows *rows);
void tp_sqlite_rows_close(struct tp_sqlite_rows *rows); /* NULL is allowed */

#endif
