/* SPDX-License-Identifier: Apache-2.0 */
/* Reads SQLite files; the only file that uses the library. */
#include "sqlite_db.h"

#include "sqlite_file.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/memory.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool tp_sqlite_head(const unsigned char *head, size_t size)
{
	/* with its NUL: sqlite.org/fileformat.html */
	static const char magic[] = "SQLite format 3";
	return size >= sizeof(magic) && memcmp(head, magic, sizeof(magic)) == 0;
}

#if TP_HAVE_SQLITE

#include <sqlite3.h>

/* In a hostile file many pages may refer to the same page of a table, so that a scan never ends.
 * Rows that are stored once need fewer than STEPS_PER_BYTE steps of SQLite's virtual machine per
 * byte: a row of three bytes in a table of one column, the minimum, takes about six. */
enum {
	STEPS_PER_BYTE = 4,
	STEPS_MIN = 1 << 22,
	STEPS_PER_CHECK = 1 << 16, /* between two checks of the total */
	TEXT_MIN = 1 << 20,
};

struct sqlite_table {
	char *name;
	unsigned version; /* version in its name: "X" 1, "X_V3" 3 */
	bool is_view;     /* or a virtual table */
};

struct tp_sqlite_rows {
	struct tp_sqlite_db *db;
	sqlite3_stmt *statement;
	size_t n_columns;                      /* that the table has */
	uint8_t places[TP_SQLITE_COLUMNS_MAX]; /* in `cells`; the others stay empty */
	uint64_t n_text_bytes;
	struct tp_sqlite_cell cells[TP_SQLITE_COLUMNS_MAX];
};

struct tp_sqlite_db {
	struct tp_sqlite_file *file;
	sqlite3 *handle;
	uint64_t size_bytes;
	uint64_t n_looks;            /* progress checks of the running statement */
	struct sqlite_table *tables; /* and views */
	size_t n_tables;
	size_t tables_capacity;
	const char *damage;
	struct tp_sqlite_rows rows;
};

/* ---- opening ------------------------------------------------------------------------------- */

static int on_progress(void *opaque)
{
	struct tp_sqlite_db *db = opaque;
	uint64_t steps = STEPS_MIN + db->size_bytes * STEPS_PER_BYTE;
	return ++db->n_looks * STEPS_PER_CHECK > steps;
}

/* Makes SQLite accept a truncated file, or one with a single damaged table, which it otherwise
 * rejects as a whole. Writing remains impossible. */
static void accept_broken(struct tp_sqlite_db *db)
{
	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, (int *)NULL);
}

/* Disables everything that reading tables does not need. */
static void restrict_connection(struct tp_sqlite_db *db)
{
	static const struct {
		int limit, most;
	} limits[] = {
		{SQLITE_LIMIT_ATTACHED, 0},
		{SQLITE_LIMIT_EXPR_DEPTH, 100},
		{SQLITE_LIMIT_COMPOUND_SELECT, 2},
		{SQLITE_LIMIT_FUNCTION_ARG, 100},
		{SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100},
		{SQLITE_LIMIT_TRIGGER_DEPTH, 1},
	};
	uint64_t length = db->size_bytes < TEXT_MIN ? TEXT_MIN : db->size_bytes;
	for (size_t i = 0; i < TP_ARRAY_LEN(limits); i++)
		sqlite3_limit(db->handle, limits[i].limit, limits[i].most);
	sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH,
		      length < 1000000000 ? (int)length : 1000000000);
	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)NULL);
	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)NULL);
	sqlite3_drop_modules(db->handle, NULL);
	sqlite3_progress_handler(db->handle, STEPS_PER_CHECK, on_progress, db);
	if (db->damage)
		accept_broken(db);
}

/* ---- tables -------------------------------------------------------------------------------- */

/* Returns the length of a table's name without "_V3". */
static size_t base_len(const char *name, unsigned *version)
{
	size_t len = strlen(name);
	size_t digits = len;
	while (digits > 0 && isdigit((unsigned char)name[digits - 1]))
		digits--;
	*version = 1;
	if (digits == len || len - digits > 4 || digits < 3 ||
	    strncasecmp(name + digits - 2, "_V", 2) != 0)
		return len;
	*version = (unsigned)strtoul(name + digits, NULL, 10);
	return digits - 2;
}

static int prepare(struct tp_sqlite_db *db, sqlite3_stmt **out, const char *sql)
{
	db->n_looks = 0;
	int result = sqlite3_prepare_v2(db->handle, sql, -1, out, NULL);
	/* With a partly damaged schema the first statement fails, and the next one works with the
	 * readable part of it. */
	if (result == SQLITE_CORRUPT && db->damage)
		result = sqlite3_prepare_v2(db->handle, sql, -1, out, NULL);
	return result;
}

static void note_error(struct tp_sqlite_db *db, int result)
{
	if (db->damage)
		return;
	if (result == SQLITE_INTERRUPT)
		db->damage = "a table has more rows than the file can hold";
	else if (result == SQLITE_TOOBIG)
		db->damage = "a text is longer than the file";
	else if (result == SQLITE_NOMEM)
		db->damage = "there is not enough memory for a row";
	else if ((result & 0xff) == SQLITE_IOERR)
		db->damage = "a page could not be read";
	else
		db->damage = "the database is damaged";
}

static int tables_list(struct tp_sqlite_db *db)
{
	sqlite3_stmt *statement = NULL;
	int result = prepare(db, &statement,
			     "SELECT name, type <> 'table' OR ifnull(rootpage, 0) <= 0 FROM "
			     "sqlite_master WHERE type IN ('table', 'view') AND typeof(name) = "
			     "'text'");
	while (!result && (result = sqlite3_step(statement)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(statement, 0);
		struct sqlite_table table = {.name = tp_strdup(name ? name : ""),
					     .is_view = sqlite3_column_int(statement, 1)};
		base_len(table.name, &table.version);
		TP_ARRAY_PUSH(db->tables, db->n_tables, db->tables_capacity) = table;
		result = SQLITE_OK;
	}
	sqlite3_finalize(statement);
	return result == SQLITE_DONE ? SQLITE_OK : result;
}

static enum tp_status fail_db(struct tp_sqlite_db *db, const char *path, int result,
			      struct tp_error *err)
{
	enum tp_status status;
	if (result == SQLITE_NOTADB)
		status = tp_fail(err, TP_PARSE, "%s is no SQLite database, or an encrypted one",
				 path);
	else if (result == SQLITE_NOMEM)
		status = tp_fail(err, TP_NOMEM, "%s: out of memory", path);
	else if ((result & 0xff) == SQLITE_IOERR || (result & 0xff) == SQLITE_CANTOPEN)
		status = tp_fail(err, TP_IO, "%s: SQLite cannot read it: %s", path,
				 sqlite3_errmsg(db->handle));
	else
		status = tp_fail(err, TP_PARSE, "%s is damaged: %s", path,
				 db->damage ? db->damage : sqlite3_errmsg(db->handle));
	tp_error_next(err, "trainprof import FILE   (the database, copied or exported again)");
	return status;
}

enum tp_status tp_sqlite_db_open(struct tp_sqlite_db **out, const char *path, struct tp_error *err)
{
	struct tp_sqlite_db *db = tp_alloc(sizeof(*db));
	enum tp_status status = tp_sqlite_file_open(&db->file, path, err);
	if (status)
		goto out;
	db->size_bytes = tp_sqlite_file_size(db->file);
	db->damage = tp_sqlite_file_error(db->file);
	int result =
		sqlite3_open_v2("export", &db->handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX,
				tp_sqlite_file_vfs(db->file));
	if (!result) {
		restrict_connection(db);
		result = tables_list(db);
	}
	if (result == SQLITE_CORRUPT && !db->damage) {
		note_error(db, result);
		accept_broken(db);
		result = tables_list(db);
	}
	/* A partly known schema is better than none. */
	if (result && db->n_tables == 0)
		status = fail_db(db, path, result, err);
out:
	if (status)
		tp_sqlite_db_close(db);
	else
		*out = db;
	return status;
}

void tp_sqlite_db_close(struct tp_sqlite_db *db)
{
	if (!db)
		return;
	tp_sqlite_rows_close(&db->rows);
	sqlite3_close(db->handle);
	tp_sqlite_file_close(db->file);
	for (size_t i = 0; i < db->n_tables; i++)
		free(db->tables[i].name);
	free(db->tables);
	free(db);
}

const char *tp_sqlite_db_error(const struct tp_sqlite_db *db)
{
	return db->damage;
}

size_t tp_sqlite_db_n_tables(const struct tp_sqlite_db *db)
{
	size_t n = 0;
	for (size_t i = 0; i < db->n_tables; i++)
		n += !db->tables[i].is_view;
	return n;
}

static const char *name_at(const struct tp_sqlite_db *db, size_t n, bool is_view)
{
	for (size_t i = 0; i < db->n_tables; i++)
		if (db->tables[i].is_view == is_view && !n--)
			return db->tables[i].name;
	return NULL;
}

const char *tp_sqlite_db_table_at(const struct tp_sqlite_db *db, size_t n)
{
	return name_at(db, n, false);
}

const char *tp_sqlite_db_view_at(const struct tp_sqlite_db *db, size_t n)
{
	return name_at(db, n, true);
}

static const struct sqlite_table *table_find(const struct tp_sqlite_db *db, const char *name,
					     bool is_view)
{
	const struct sqlite_table *best = NULL;
	size_t len = strlen(name);
	for (size_t i = 0; i < db->n_tables; i++) {
		const struct sqlite_table *table = &db->tables[i];
		unsigned version;
		if (table->is_view != is_view)
			continue;
		if (!strcasecmp(table->name, name))
			return table; /* the relation of the other versions to it is unknown */
		if (base_len(table->name, &version) == len &&
		    !strncasecmp(table->name, name, len) && (!best || version > best->version))
			best = table;
	}
	return best;
}

const char *tp_sqlite_db_table(const struct tp_sqlite_db *db, const char *name)
{
	const struct sqlite_table *table = table_find(db, name, false);
	return table ? table->name : NULL;
}

bool tp_sqlite_db_has_view(const struct tp_sqlite_db *db, const char *name)
{
	return !table_find(db, name, false) && table_find(db, name, true);
}

/* ---- rows ---------------------------------------------------------------------------------- */

static void add_identifier(struct tp_buf *sql, const char *name, size_t len)
{
	tp_buf_putc(sql, '"');
	for (size_t i = 0; i < len; i++) {
		if (name[i] == '"')
			tp_buf_putc(sql, '"');
		tp_buf_putc(sql, name[i]);
	}
	tp_buf_putc(sql, '"');
}

/* Lists the names of the table's own columns, each followed by '|'. Generated columns are not
 * listed. */
static void columns_list(struct tp_sqlite_db *db, const char *table, struct tp_buf *out)
{
	struct tp_buf sql = {0};
	sqlite3_stmt *statement = NULL;
	tp_buf_puts(&sql, "PRAGMA table_info(");
	add_identifier(&sql, table, strlen(table));
	tp_buf_putc(&sql, ')');
	tp_buf_putc(out, '|');
	bool is_ready = !prepare(db, &statement, sql.data);
	while (is_ready && sqlite3_step(statement) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(statement, 1);
		tp_buf_puts(out, name ? name : "");
		tp_buf_putc(out, '|');
	}
	sqlite3_finalize(statement);
	tp_buf_release(&sql);
}

static bool columns_have(const struct tp_buf *columns, const char *name, size_t len)
{
	for (const char *at = tp_buf_text(columns); (at = strchr(at, '|')) && at[1]; at++)
		if (!strncasecmp(at + 1, name, len) && at[1 + len] == '|')
			return true;
	return false;
}

/* Adds the expression of one cell. Returns false, and adds nothing, if the table has none of the
 * columns. */
static bool add_cell(struct tp_buf *sql, const char *names, const struct tp_buf *columns,
		     bool has_others)
{
	struct tp_buf found = {0};
	unsigned n = 0;
	while (*names) {
		size_t len = strcspn(names, "|");
		if (columns_have(columns, names, len)) {
			tp_buf_puts(&found, n++ ? "," : "");
			add_identifier(&found, names, len);
		}
		names += len + (names[len] == '|');
	}
	if (n)
		tp_buf_printf(sql, n > 1 ? "%scoalesce(%s)" : "%s%s", has_others ? "," : "",
			      found.data);
	tp_buf_release(&found);
	return n > 0;
}

struct tp_sqlite_rows *tp_sqlite_rows_open(struct tp_sqlite_db *db, const char *table,
					   const char *const *columns, size_t n_columns)
{
	struct tp_sqlite_rows *rows = &db->rows;
	struct tp_buf known = {0};
	struct tp_buf sql = {0};
	const char *name = tp_sqlite_db_table(db, table);
	if (!name || n_columns > TP_SQLITE_COLUMNS_MAX)
		return NULL;
	tp_sqlite_rows_close(rows);
	columns_list(db, name, &known);
	tp_buf_puts(&sql, "SELECT ");
	rows->n_columns = 0;
	for (size_t i = 0; i < n_columns; i++) {
		rows->cells[i] = (struct tp_sqlite_cell){0};
		if (add_cell(&sql, columns[i], &known, rows->n_columns > 0))
			rows->places[rows->n_columns++] = (uint8_t)i;
	}
	tp_buf_puts(&sql, " FROM ");
	add_identifier(&sql, name, strlen(name));
	tp_buf_puts(&sql, " NOT INDEXED"); /* an index may differ from its table */
	int result = rows->n_columns ? prepare(db, &rows->statement, sql.data) : SQLITE_OK;
	if (result)
		note_error(db, result);
	tp_buf_release(&known);
	tp_buf_release(&sql);
	rows->db = db;
	rows->n_text_bytes = 0;
	return rows->statement ? rows : NULL;
}

/* Returns false if SQLite has no memory for a text. Reading the unprotected value of a column is
 * allowed here because the connection is used without mutexes (sqlite.org/c3ref/value.html,
 * "protected and unprotected", read 2026-11-22). Requesting the column twice makes the import 10 %
 * slower. */
static bool cell_read(struct tp_sqlite_rows *rows, int i)
{
	struct tp_sqlite_cell *cell = &rows->cells[rows->places[i]];
	sqlite3_value *value = sqlite3_column_value(rows->statement, i);
	*cell = (struct tp_sqlite_cell){0};
	switch (sqlite3_value_type(value)) {
	case SQLITE_INTEGER:
		cell->type = TP_SQLITE_INTEGER;
		cell->number = sqlite3_value_int64(value);
		return true;
	case SQLITE_TEXT:
		cell->type = TP_SQLITE_TEXT;
		cell->text = (const char *)sqlite3_value_text(value);
		cell->len = (size_t)sqlite3_value_bytes(value);
		rows->n_text_bytes += cell->len;
		/* Copies end at the first NUL, and a damaged file may contain one. */
		cell->len = cell->text ? strnlen(cell->text, cell->len) : 0;
		return cell->text != NULL;
	case SQLITE_NULL:
		return true;
	default:
		cell->type = TP_SQLITE_OTHER;
		return true;
	}
}

const struct tp_sqlite_cell *tp_sqlite_rows_next(struct tp_sqlite_rows *rows)
{
	struct tp_sqlite_db *db = rows->db;
	int result = sqlite3_step(rows->statement);
	if (result != SQLITE_ROW) {
		if (result != SQLITE_DONE)
			note_error(db, result);
		return NULL;
	}
	for (size_t i = 0; i < rows->n_columns; i++) {
		if (!cell_read(rows, (int)i)) {
			note_error(db, SQLITE_NOMEM);
			return NULL;
		}
	}
	if (rows->n_text_bytes > 2 * db->size_bytes + TEXT_MIN) { /* UTF-16 grows */
		note_error(db, SQLITE_TOOBIG);
		return NULL;
	}
	return rows->cells;
}

void tp_sqlite_rows_close(struct tp_sqlite_rows *rows)
{
	if (!rows)
		return;
	sqlite3_finalize(rows->statement);
	rows->statement = NULL;
}

#else

enum tp_status tp_sqlite_db_open(struct tp_sqlite_db **out, const char *path, struct tp_error *err)
{
	(void)out;
	enum tp_status status =
		tp_fail(err, TP_ABSENT, "built without SQLite, which reads %s", path);
	tp_error_next(err, "apt-get install libsqlite3-dev && make");
	return status;
}

void tp_sqlite_db_close(struct tp_sqlite_db *db)
{
	(void)db;
}

const char *tp_sqlite_db_error(const struct tp_sqlite_db *db)
{
	(void)db;
	return NULL;
}

size_t tp_sqlite_db_n_tables(const struct tp_sqlite_db *db)
{
	(void)db;
	return 0;
}

const char *tp_sqlite_db_table_at(const struct tp_sqlite_db *db, size_t n)
{
	(void)db;
	(void)n;
	return NULL;
}

const char *tp_sqlite_db_table(const struct tp_sqlite_db *db, const char *name)
{
	(void)db;
	(void)name;
	return NULL;
}

const char *tp_sqlite_db_view_at(const struct tp_sqlite_db *db, size_t n)
{
	(void)db;
	(void)n;
	return NULL;
}

bool tp_sqlite_db_has_view(const struct tp_sqlite_db *db, const char *name)
{
	(void)db;
	(void)name;
	return false;
}

struct tp_sqlite_rows *tp_sqlite_rows_open(struct tp_sqlite_db *db, const char *table,
					   const char *const *columns, size_t n_columns)
{
	(void)db;
	(void)table;
	(void)columns;
	(void)n_columns;
	return NULL;
}

const struct tp_sqlite_cell *tp_sqlite_rows_next(struct tp_sqlite_rows *rows)
{
	(void)rows;
	return NULL;
}

void tp_sqlite_rows_close(struct tp_sqlite_rows *rows)
{
	(void)rows;
}

#endif
