/* SPDX-License-Identifier: Apache-2.0 */
/* Changes tables by SQL: a column of any name gets values that it should not have. */
#include "mutate_database.h"

#include "mutate_document.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 128 };

/* Chooses a random row of the first column of `query`. Returns false if there is none. */
static bool choose(sqlite3 *db, const char *query, char out[NAME_SIZE], uint64_t *state)
{
	char sql[400];
	sqlite3_stmt *rows;
	bool has_one = false;
	snprintf(sql, sizeof(sql), "%s LIMIT 1 OFFSET ?", query);
	for (uint64_t n = 1 + random_below(state, 40); n && !has_one; n /= 2) {
		if (sqlite3_prepare_v2(db, sql, -1, &rows, NULL) != SQLITE_OK)
			return false;
		sqlite3_bind_int64(rows, 1, (sqlite3_int64)(n - 1));
		if (sqlite3_step(rows) == SQLITE_ROW && sqlite3_column_text(rows, 0)) {
			snprintf(out, NAME_SIZE, "%s", sqlite3_column_text(rows, 0));
			has_one = true;
		}
		sqlite3_finalize(rows);
	}
	return has_one;
}

static void change_table(sqlite3 *db, uint64_t *state)
{
	static const char *const values[] = {
		"NULL",
		"-1",
		"0",
		"9223372036854775807",
		"-9223372036854775808",
		"'text'",
		"''",
		"x'00ff00ff'",
		"4294967295",
		"1e300",
		"{c} + 1",
		"-{c}",
		"{c} * 1000000",
		"{c} / 1000",
		"1",
	};
	static const char *const some[] = {"rowid = 1", "rowid % 7 = 0", "rowid % 2 = 0", "1"};
	char table[NAME_SIZE];
	char column[NAME_SIZE];
	char sql[900];
	char value[300];
	if (!choose(db, "SELECT name FROM sqlite_master WHERE type = 'table'", table, state))
		return;
	snprintf(sql, sizeof(sql), "SELECT name FROM pragma_table_info('%s')", table);
	if (!choose(db, sql, column, state))
		return;
	const char *rows = some[random_below(state, sizeof(some) / sizeof(some[0]))];
	const char *form = values[random_below(state, sizeof(values) / sizeof(values[0]))];
	if (strncmp(form, "{c}", 3) == 0)
		snprintf(value, sizeof(value), "\"%s\"%s", column, form + 3);
	else if (strcmp(form, "-{c}") == 0)
		snprintf(value, sizeof(value), "-\"%s\"", column);
	else
		snprintf(value, sizeof(value), "%s", form);
	switch (random_below(state, 10)) {
	case 0:
		snprintf(sql, sizeof(sql), "DELETE FROM \"%s\" WHERE %s", table, rows);
		break;
	case 1:
		snprintf(sql, sizeof(sql), "ALTER TABLE \"%s\" DROP COLUMN \"%s\"", table, column);
		break;
	case 2:
		snprintf(sql, sizeof(sql), "INSERT INTO \"%s\" SELECT * FROM \"%s\" WHERE %s",
			 table, table, rows);
		break;
	default:
		snprintf(sql, sizeof(sql), "UPDATE \"%s\" SET \"%s\" = %s WHERE %s", table, column,
			 value, rows);
	}
	/* If the database refuses the change (a duplicate key) it stays unchanged. */
	(void)sqlite3_exec(db, sql, NULL, NULL, NULL);
}

void mutate_database(const char *from, const char *to, uint64_t *state)
{
	char command[900];
	sqlite3 *db;
	snprintf(command, sizeof(command), "cp '%s' '%s' && chmod 600 '%s'", from, to, to);
	if (system(command) != 0 || sqlite3_open(to, &db) != SQLITE_OK)
		exit(2);
	(void)sqlite3_exec(db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY", NULL, NULL,
			   NULL);
	for (uint64_t k = 1 + random_below(state, 3); k; k--)
		change_table(db, state);
	sqlite3_close(db);
}
