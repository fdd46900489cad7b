/* SPDX-License-Identifier: Apache-2.0 */
/* Tests SQLite's view of a file. */
#include "import/sqlite/sqlite_file.h"

#include "import/nsys_scene.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/file.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#if TP_HAVE_SQLITE

/* A database of four pages of 512 bytes, truncated or extended. */
static const struct {
	int grow;
	uint64_t size_bytes;
	const char *damage;
} sizes[] = {
	{0, 2048, NULL},
	{512, 2560, NULL}, /* pages that the header does not count yet do no harm */
	{-1, 1536, "the file ends before its last page"},
	{-511, 1536, "the file ends before its last page"},
	{-512, 1536, "the file ends before its last page"},
	{-2047, 1, NULL}, /* shorter than a header: the pages are unknown */
	{7, 2048, "the file ends before its last page"},
};

START_TEST(only_whole_pages_are_shown)
{
	struct tp_buf bytes = {0};
	struct tp_sqlite_file *file;
	const char *path = nsys_file_make("PRAGMA page_size = 512; CREATE TABLE a (x); CREATE "
					  "TABLE b (x); CREATE TABLE c (x);");
	ck_assert_int_eq(tp_file_read(&bytes, path, 1 << 20, NULL), TP_OK);
	ck_assert_uint_eq(bytes.len, 2048);
	tp_buf_pad(&bytes, '\0', 512);
	FILE *out = fopen(path, "w");
	fwrite(bytes.data, 1, (size_t)(2048 + sizes[_i].grow), out);
	fclose(out);
	ck_assert_int_eq(tp_sqlite_file_open(&file, path, NULL), TP_OK);
	ck_assert_uint_eq(tp_sqlite_file_size(file), sizes[_i].size_bytes);
	if (sizes[_i].damage)
		ck_assert_str_eq(tp_sqlite_file_error(file), sizes[_i].damage);
	else
		ck_assert_ptr_null(tp_sqlite_file_error(file));
	tp_sqlite_file_close(file);
	tp_buf_release(&bytes);
}
END_TEST

/* A converter of texts writes three bytes in place of one. */
START_TEST(a_copy_as_text_is_named)
{
	struct tp_buf bytes = {0};
	struct tp_buf text = {0};
	struct tp_sqlite_file *file;
	const char *path = nsys_file_make("CREATE TABLE a (x); INSERT INTO a VALUES (x'ffeedd');");
	ck_assert_int_eq(tp_file_read(&bytes, path, 1 << 20, NULL), TP_OK);
	for (size_t i = 0; i < bytes.len; i++) {
		if ((unsigned char)bytes.data[i] < 0x80)
			tp_buf_putc(&text, bytes.data[i]);
		else
			tp_buf_puts(&text, "\xef\xbf\xbd");
	}
	FILE *out = fopen(path, "w");
	fwrite(text.data, 1, text.len, out);
	fclose(out);
	ck_assert_int_eq(tp_sqlite_file_open(&file, path, NULL), TP_OK);
	ck_assert_str_eq(tp_sqlite_file_error(file), "it was copied as text");
	tp_sqlite_file_close(file);
	tp_buf_release(&bytes);
	tp_buf_release(&text);
}
END_TEST

START_TEST(each_file_has_a_way_of_its_own)
{
	struct tp_sqlite_file *a;
	struct tp_sqlite_file *b;
	const char *path = nsys_file_make("CREATE TABLE a (x);");
	ck_assert_int_eq(tp_sqlite_file_open(&a, path, NULL), TP_OK);
	ck_assert_int_eq(tp_sqlite_file_open(&b, path, NULL), TP_OK);
	ck_assert_str_ne(tp_sqlite_file_vfs(a), tp_sqlite_file_vfs(b));
	tp_sqlite_file_close(a);
	tp_sqlite_file_close(b);
	tp_sqlite_file_close(NULL);
}
END_TEST

#endif

Suite *suite_import_sqlite_file(void);
Suite *suite_import_sqlite_file(void)
{
	Suite *suite = suite_create("import/sqlite_file");
	TCase *tc = tcase_create("file");
#if TP_HAVE_SQLITE
	tcase_add_loop_test(tc, only_whole_pages_are_shown, 0,
			    (int)(sizeof(sizes) / sizeof(sizes[0])));
	tcase_add_test(tc, a_copy_as_text_is_named);
	tcase_add_test(tc, each_file_has_a_way_of_its_own);
#endif
	suite_add_tcase(suite, tc);
	return suite;
}
