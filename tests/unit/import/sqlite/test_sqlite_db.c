/* SPDX-License-Identifier: Apache-2.0 */
/* Tests databases that are truncated, damaged or hostile. */
#include "import/sqlite/sqlite_db.h"

#include "import/nsys_scene.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/clock.h"
#include "trainprof/base/file.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define N(array) (int)(sizeof(array) / sizeof((array)[0]))

/* Creates a thousand kernels with distinct names, their calls and ranges, in small pages. */
static const char *make_thousand(void)
{
	return nsys_file_make(
		"PRAGMA page_size = 512;" SCHEMA_ALL
		"CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
		"FROM n WHERE i < 1000) SELECT i FROM n;"
		"INSERT INTO StringIds SELECT i, 'kernel ' || i FROM n;"
		"INSERT INTO StringIds VALUES (0, 'cudaLaunchKernel_v7000');"
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT 100 * i, 100 * i + 50, 0, 1, 7, i, "
		"%lld, i, i, NULL, 1, 1, 1, 1, 1, 1, NULL FROM n;"
		"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT 100 * i - 20, 100 * i - 10, 0, "
		"%lld, i, 0, 0, NULL FROM n;"
		"INSERT INTO NVTX_EVENTS SELECT 100 * i - 30, 100 * i, 59, NULL, NULL, NULL, "
		"'step ' || i, %lld, NULL, NULL, 0 FROM n;",
		(long long)GLOBAL(5, 0), (long long)GLOBAL(5, 6), (long long)GLOBAL(5, 6));
}

static void file_read(struct tp_buf *bytes, const char *path)
{
	ck_assert_int_eq(tp_file_read(bytes, path, 64 << 20, NULL), TP_OK);
}

static void file_write(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
	ck_assert_int_eq(fclose(file), 0);
}

START_TEST(a_whole_file_is_read_whole_and_nothing_lies_beside_it)
{
	if (!nsys_can_read())
		return;
	struct nsys_scene scene;
	struct stat before;
	struct stat after;
	const char *path = make_thousand();
	stat(path, &before);
	nsys_scene_import(&scene, path);
	stat(path, &after);
	ck_assert_int_eq(scene.status, TP_OK);
	ck_assert_uint_eq(nsys_scene_count(&scene, TP_SPAN_KERNEL), 1000);
	ck_assert(!scene.result.ranks[0].is_cut);
	ck_assert_int_eq(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
	ck_assert_str_eq(nsys_scene_name(&scene, nsys_scene_span(&scene, TP_SPAN_KERNEL, 9)),
			 "kernel 10");
	nsys_scene_release(&scene);
}
END_TEST

/* Checks that the kept spans of the thousand are unchanged. */
static void assert_thousand(const struct nsys_scene *scene)
{
	ck_assert_uint_eq(scene->result.n_ranks, 1);
	for (size_t i = 0; i < scene->trace.n_tracks; i++) {
		for (size_t j = 0; j < scene->trace.spans[i].n; j++) {
			const struct tp_span *span = &scene->trace.spans[i].items[j];
			if (span->kind != TP_SPAN_KERNEL)
				continue;
			char name[32];
			snprintf(name, sizeof(name), "kernel %u", span->link);
			ck_assert_uint_eq(span->start_ns, 100 * (uint64_t)span->link);
			ck_assert_uint_eq(span->end_ns, span->start_ns + 50);
			ck_assert(!strcmp(nsys_scene_name(scene, span), name) ||
				  !strncmp(nsys_scene_name(scene, span), "string ", 7));
		}
	}
}

START_TEST(a_cut_file_gives_what_is_left_or_a_reason)
{
	enum { CUTS = 200 };
	if (!nsys_can_read())
		return;
	struct tp_buf bytes = {0};
	const char *path = make_thousand();
	size_t n_partial = 0;
	file_read(&bytes, path);
	for (size_t i = 0; i < CUTS; i++) {
		struct nsys_scene scene;
		size_t size = bytes.len * i / CUTS;
		file_write(path, bytes.data, size);
		nsys_scene_import(&scene, path);
		if (scene.status == TP_OK) {
			ck_assert(scene.result.ranks[0].is_cut);
			ck_assert_ptr_nonnull(scene.result.ranks[0].skipped_because);
			ck_assert_uint_gt(scene.result.ranks[0].n_kept, 0);
			assert_thousand(&scene);
			n_partial++;
		} else {
			ck_assert_int_eq(scene.status, TP_PARSE);
		}
		nsys_scene_release(&scene);
	}
	/* Tables lie one after the other: ranges may be missing although the kernels are there. */
	ck_assert_uint_gt(n_partial, CUTS / 2);
	tp_buf_release(&bytes);
}
END_TEST

START_TEST(flipped_bytes_never_harm)
{
	if (!nsys_can_read())
		return;
	struct tp_buf bytes = {0};
	const char *path = make_thousand();
	file_read(&bytes, path);
	for (size_t i = 0; i < 300; i++) {
		struct nsys_scene scene;
		/* Every position in the header and the schema's page, then some in each page. */
		size_t at = i < 150 ? i : 512 * (i - 150) + i % 24;
		if (at >= bytes.len)
			break;
		char old = bytes.data[at];
		bytes.data[at] = (char)(old ^ (i & 1 ? 0xff : 0x04));
		file_write(path, bytes.data, bytes.len);
		bytes.data[at] = old;
		nsys_scene_import(&scene, path);
		nsys_scene_release(&scene);
	}
	tp_buf_release(&bytes);
}
END_TEST

static uint32_t get_u32(const char *at)
{
	const unsigned char *p = (const unsigned char *)at;
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void put_u32(char *at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		at[i] = (char)(value >> (24 - 8 * i));
}

/* Makes all children of an interior page the same page. */
static void page_point(char *page, uint32_t child)
{
	size_t n = (size_t)(unsigned char)page[3] << 8 | (unsigned char)page[4];
	ck_assert_int_eq(page[0], 5);
	put_u32(page + 8, child);
	for (size_t i = 0; i < n; i++)
		put_u32(page + ((size_t)(unsigned char)page[12 + 2 * i] << 8 |
				(unsigned char)page[13 + 2 * i]),
			child);
}

/* Creates 512-byte pages of a table in which every page refers to the next one some 60 times: 60^14
 * rows. */
static const char *make_endless(void)
{
	enum { PAGE = 512, LEVELS = 14 };
	struct tp_buf bytes = {0};
	const char *path = nsys_file_make(
		"PRAGMA page_size = 512;"
		"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, "
		"correlationId, globalPid, name);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
		"SELECT i + 1 FROM n WHERE i < 700) SELECT i, i + 1, 0, 7, i, %lld, 'k' FROM n;",
		(long long)GLOBAL(5, 0));
	file_read(&bytes, path);
	uint32_t n_pages = get_u32(bytes.data + 28);
	char root[PAGE];
	memcpy(root, bytes.data + PAGE, PAGE); /* of the first table: page 2 */
	uint32_t leaf =
		get_u32(root + ((size_t)(unsigned char)root[12] << 8 | (unsigned char)root[13]));
	for (uint32_t i = 0; i < LEVELS; i++) {
		page_point(root, i + 1 < LEVELS ? n_pages + i + 2 : leaf);
		tp_buf_add(&bytes, root, PAGE);
	}
	page_point(bytes.data + PAGE, n_pages + 1);
	put_u32(bytes.data + 28, n_pages + LEVELS);
	file_write(path, bytes.data, bytes.len);
	tp_buf_release(&bytes);
	return path;
}

START_TEST(a_table_without_end_ends)
{
	if (!nsys_can_read())
		return;
	struct nsys_scene scene;
	uint64_t begun_ns = tp_clock_self_cpu_ns();
	nsys_scene_import(&scene, make_endless());
	ck_assert_uint_lt(tp_clock_self_cpu_ns() - begun_ns, 20 * TP_NS_PER_S);
	ck_assert_int_eq(scene.status, TP_OK);
	ck_assert(scene.result.ranks[0].is_cut);
	ck_assert_str_eq(scene.result.ranks[0].skipped_because,
			 "a table has more rows than the file can hold");
	nsys_scene_release(&scene);
}
END_TEST

/* Would run code of the file itself, or run forever, if read as a table. */
static const char *const traps[] = {
	"CREATE VIEW NVTX_EVENTS AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM "
	"n) "
	"SELECT i AS start, i + 1 AS end, 59 AS eventType, 'trap' AS text, 5 AS globalTid FROM n;",
	"CREATE TRIGGER t AFTER INSERT ON CUPTI_ACTIVITY_KIND_KERNEL BEGIN DELETE FROM "
	"CUPTI_ACTIVITY_KIND_KERNEL; END;",
	"CREATE TABLE NVTX_EVENTS (start INTEGER, end AS (length(zeroblob(900000000))), text TEXT, "
	"globalTid INTEGER); INSERT INTO NVTX_EVENTS VALUES (1, 'trap', 281475060596742);",
	"CREATE TABLE x (id INTEGER); CREATE VIEW StringIds AS SELECT id, 'trap' AS value FROM x;",
	"CREATE INDEX i ON CUPTI_ACTIVITY_KIND_KERNEL(start, end) WHERE start < 0;",
	"CREATE TABLE \"NVTX_EVENTS_V2\"\"; DROP TABLE x; --\" (start, end);",
};

START_TEST(only_tables_are_read)
{
	if (!nsys_can_read())
		return;
	struct nsys_scene scene;
	nsys_file_make(SCHEMA_KERNEL "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (200, 300, 0, "
				     "1, 7, 7, %lld, 1, 2, NULL, 4, 2, 1, 32, 2, 1, NULL);%s",
		       (long long)GLOBAL(5, 0), traps[_i]);
	nsys_scene_import(&scene, nsys_file_path());
	ck_assert_msg(!scene.status, "%s", scene.err.text);
	ck_assert_uint_eq(scene.result.ranks[0].n_kept, 1);
	ck_assert(!scene.result.ranks[0].is_cut);
	/* One replaces a table of spans, one has an end that is not stored. */
	ck_assert_uint_eq(scene.result.ranks[0].n_skipped, _i == 0 || _i == 2);
	nsys_scene_release(&scene);
}
END_TEST

START_TEST(a_damaged_schema_can_not_make_a_view_a_table)
{
	if (!nsys_can_read())
		return;
	struct nsys_scene scene;
	nsys_file_make(
		SCHEMA_KERNEL
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (200, 300, 0, 1, 7, 7, %lld, 1, "
		"2, NULL, 4, 2, 1, 32, 2, 1, NULL);"
		"CREATE TABLE NVTX_EVENTS (a); PRAGMA writable_schema = ON;"
		"UPDATE sqlite_master SET sql = 'CREATE VIEW NVTX_EVENTS AS WITH RECURSIVE "
		"n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS start, i + 1 AS "
		"end, 59 AS eventType, ''trap'' AS text, 5 AS globalTid FROM n' WHERE name = "
		"'NVTX_EVENTS';",
		(long long)GLOBAL(5, 0));
	nsys_scene_import(&scene, nsys_file_path());
	if (!scene.status)
		ck_assert_uint_eq(scene.result.ranks[0].n_kept, 1);
	nsys_scene_release(&scene);
}
END_TEST

START_TEST(a_log_beside_the_file_is_told)
{
	if (!nsys_can_read())
		return;
	char log[128];
	struct nsys_scene scene;
	const char *path = make_thousand();
	snprintf(log, sizeof(log), "%s-wal", path);
	file_write(log, "rows", 4);
	nsys_scene_import(&scene, path);
	unlink(log);
	ck_assert_int_eq(scene.status, TP_OK);
	ck_assert(scene.result.ranks[0].is_cut);
	ck_assert_str_eq(scene.result.ranks[0].skipped_because,
			 "a log of unfinished writing lies beside the file");
	nsys_scene_release(&scene);
}
END_TEST

START_TEST(a_database_in_wal_mode_is_read_without_its_log)
{
	if (!nsys_can_read())
		return;
	struct nsys_scene scene;
	char log[128];
	const char *path = make_thousand();
	snprintf(log, sizeof(log), "%s-shm", path);
	nsys_file_change("PRAGMA journal_mode = WAL; CREATE TABLE later (a);");
	nsys_scene_import(&scene, path);
	ck_assert_int_eq(scene.status, TP_OK);
	ck_assert(!scene.result.ranks[0].is_cut);
	ck_assert_int_ne(access(log, F_OK), 0);
	nsys_scene_release(&scene);
}
END_TEST

static const struct {
	const char *bytes;
	size_t size;
	const char *text;
} foreign[] = {
	{"", 0, "no table"},
	{"SQLite format 3", 16, "no SQLite database"},
	{"an encrypted database looks like noise; this one is as long as a header has to be: 100 "
	 "bytes, or a few more",
	 108, "no SQLite database"},
};

START_TEST(what_is_no_database_is_refused)
{
	if (!nsys_can_read())
		return;
	struct tp_sqlite_db *db = NULL;
	struct tp_error err = {0};
	file_write(nsys_file_path(), foreign[_i].bytes, foreign[_i].size);
	enum tp_status status = tp_sqlite_db_open(&db, nsys_file_path(), &err);
	if (status) {
		ck_assert_int_eq(status, TP_PARSE);
		ck_assert_msg(strstr(err.text, foreign[_i].text), "%s", err.text);
		ck_assert(strstr(err.next, "trainprof import FILE"));
	} else {
		ck_assert_uint_eq(tp_sqlite_db_n_tables(db),
				  0); /* an empty file is an empty database */
	}
	tp_sqlite_db_close(db);
}
END_TEST

START_TEST(files_that_cannot_be_opened_say_why)
{
	if (!nsys_can_read())
		return;
	struct tp_sqlite_db *db = NULL;
	struct tp_error err = {0};
	ck_assert_int_eq(tp_sqlite_db_open(&db, "/nowhere/at all", &err), TP_ABSENT);
	ck_assert(strstr(err.text, "/nowhere/at all"));
	ck_assert_int_eq(tp_sqlite_db_open(&db, "/tmp", &err), TP_IO);
	ck_assert_int_eq(tp_sqlite_db_open(&db, "/dev/zero", &err), TP_IO);
	ck_assert_ptr_null(db);
}
END_TEST

START_TEST(columns_are_found_by_any_of_their_names)
{
	if (!nsys_can_read())
		return;
	static const char *const columns[] = {"start", "no such|B", "c|\"", "nothing"};
	struct tp_sqlite_db *db;
	nsys_file_make("CREATE TABLE t (a, b, c, \"\"\"\" TEXT, START);"
		       "INSERT INTO t VALUES (1, 2, NULL, 'x', 1.5), (1, x'00', 5, NULL, NULL);");
	ck_assert_int_eq(tp_sqlite_db_open(&db, nsys_file_path(), NULL), TP_OK);
	ck_assert_ptr_null(tp_sqlite_rows_open(db, "no table", columns, 4));
	ck_assert_ptr_null(tp_sqlite_rows_open(db, "t", &columns[3], 1));
	struct tp_sqlite_rows *rows = tp_sqlite_rows_open(db, "T", columns, 4);
	const struct tp_sqlite_cell *cells = tp_sqlite_rows_next(rows);
	ck_assert_int_eq(cells[0].type, TP_SQLITE_OTHER);
	ck_assert_int_eq(cells[1].number, 2);
	ck_assert_str_eq(cells[2].text, "x");
	ck_assert_uint_eq(cells[2].len, 1);
	ck_assert_int_eq(cells[3].type, TP_SQLITE_NULL);
	cells = tp_sqlite_rows_next(rows);
	ck_assert_int_eq(cells[0].type, TP_SQLITE_NULL);
	ck_assert_int_eq(cells[1].type, TP_SQLITE_OTHER);
	ck_assert_int_eq(cells[2].type, TP_SQLITE_INTEGER);
	ck_assert_int_eq(cells[2].number, 5);
	ck_assert_ptr_null(tp_sqlite_rows_next(rows));
	ck_assert_ptr_null(tp_sqlite_db_error(db));
	tp_sqlite_rows_close(rows);
	tp_sqlite_db_close(db);
}
END_TEST

/* A copy of the text has no more bytes. */
START_TEST(a_text_ends_at_its_first_nul)
{
	if (!nsys_can_read())
		return;
	static const char *const columns[] = {"name"};
	struct tp_sqlite_db *db;
	nsys_file_make("CREATE TABLE t (name TEXT);"
		       "INSERT INTO t VALUES ('gemm' || char(0) || ', seq = 7');");
	ck_assert_int_eq(tp_sqlite_db_open(&db, nsys_file_path(), NULL), TP_OK);
	struct tp_sqlite_rows *rows = tp_sqlite_rows_open(db, "t", columns, 1);
	const struct tp_sqlite_cell *cells = tp_sqlite_rows_next(rows);
	ck_assert_str_eq(cells[0].text, "gemm");
	ck_assert_uint_eq(cells[0].len, 4);
	tp_sqlite_rows_close(rows);
	tp_sqlite_db_close(db);
}
END_TEST

START_TEST(the_newest_version_of_a_table_stands_for_it)
{
	if (!nsys_can_read())
		return;
	struct tp_sqlite_db *db;
	nsys_file_make("CREATE TABLE A_V2 (x); CREATE TABLE A_V10 (x); CREATE TABLE A_V9 (x);"
		       "CREATE TABLE B (x); CREATE TABLE B_V2 (x); CREATE TABLE C_V (x);"
		       "CREATE TABLE D2 (x); CREATE VIEW E AS SELECT 1;");
	ck_assert_int_eq(tp_sqlite_db_open(&db, nsys_file_path(), NULL), TP_OK);
	ck_assert_uint_eq(tp_sqlite_db_n_tables(db), 7);
	ck_assert_str_eq(tp_sqlite_db_table(db, "A"), "A_V10");
	ck_assert_str_eq(tp_sqlite_db_table(db, "B"), "B");
	ck_assert_ptr_null(tp_sqlite_db_table(db, "C"));
	ck_assert_ptr_null(tp_sqlite_db_table(db, "D"));
	ck_assert_ptr_null(tp_sqlite_db_table(db, "E"));
	ck_assert(tp_sqlite_db_has_view(db, "E"));
	ck_assert(!tp_sqlite_db_has_view(db, "B"));
	tp_sqlite_db_close(db);
}
END_TEST

Suite *suite_import_sqlite_db(void);
Suite *suite_import_sqlite_db(void)
{
	Suite *suite = suite_create("import/sqlite_db");
	TCase *tc = tcase_create("database");
	tcase_add_test(tc, a_whole_file_is_read_whole_and_nothing_lies_beside_it);
	tcase_add_test(tc, a_cut_file_gives_what_is_left_or_a_reason);
	tcase_add_test(tc, flipped_bytes_never_harm);
	tcase_add_test(tc, a_table_without_end_ends);
	tcase_add_loop_test(tc, only_tables_are_read, 0, N(traps));
	tcase_add_test(tc, a_damaged_schema_can_not_make_a_view_a_table);
	tcase_add_test(tc, a_log_beside_the_file_is_told);
	tcase_add_test(tc, a_database_in_wal_mode_is_read_without_its_log);
	tcase_add_loop_test(tc, what_is_no_database_is_refused, 0, N(foreign));
	tcase_add_test(tc, files_that_cannot_be_opened_say_why);
	tcase_add_test(tc, columns_are_found_by_any_of_their_names);
	tcase_add_test(tc, a_text_ends_at_its_first_nul);
	tcase_add_test(tc, the_newest_version_of_a_table_stands_for_it);
	suite_add_tcase(suite, tc);
	return suite;
}
