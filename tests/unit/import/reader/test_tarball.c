/* SPDX-License-Identifier: Apache-2.0 */
/* Tests reading archives: three dialects, with any sizes and names. */
#include "import/reader/tarball.h"

#include "giver.h"
#include "import/archive.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/stream.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Writes "name=content;name=content;" and how the first `size` bytes end. */
static void list_cut(struct tp_buf *out, const struct tp_buf *archive, size_t size)
{
	struct giver giver = {archive->data, size};
	struct tp_stream *stream = tp_stream_from_source(give, &giver);
	struct tp_tarball tar;
	tp_tarball_init(&tar, stream);
	while (tp_tarball_next(&tar)) {
		char bytes[32];
		size_t n = tp_tarball_read(&tar, bytes, sizeof(bytes));
		tp_buf_printf(out, "%s=%.*s;", tp_buf_text(&tar.name), (int)n, bytes);
	}
	tp_buf_puts(out, tar.is_cut ? "cut" : "");
	tp_buf_puts(out, tar.is_damaged ? "damaged" : "");
	tp_tarball_release(&tar);
	tp_stream_close(stream);
}

static void assert_lists(const struct tp_buf *archive, const char *wanted)
{
	struct tp_buf got = {0};
	list_cut(&got, archive, archive->len);
	ck_assert_str_eq(tp_buf_text(&got), wanted);
	tp_buf_release(&got);
}

START_TEST(files_are_given_and_all_else_is_passed_over)
{
	struct tp_buf archive = {0};
	archive_add(&archive, "folder/", '5', "", 0);
	archive_add(&archive, "folder/a", '0', "first", 5);
	archive_add(&archive, "link", '2', "", 0);
	archive_add(&archive, "old", '\0', "second", 6);
	archive_add(&archive, "empty", '0', "", 0);
	archive_end(&archive);
	assert_lists(&archive, "folder/a=first;old=second;empty=;");
	tp_buf_release(&archive);
}
END_TEST

START_TEST(what_is_left_of_a_member_is_passed_over)
{
	struct tp_buf archive = {0};
	char large[5000];
	memset(large, 'x', sizeof(large));
	archive_add(&archive, "large", '0', large, sizeof(large));
	archive_add(&archive, "behind", '0', "y", 1);
	archive_end(&archive);
	assert_lists(&archive, "large=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx;behind=y;");
	tp_buf_release(&archive);
}
END_TEST

START_TEST(long_names_come_whole)
{
	struct tp_buf archive = {0};
	struct tp_buf wanted = {0};
	char name[300];
	memset(name, 'n', sizeof(name));
	name[299] = '\0';
	archive_add(&archive, "././@LongLink", 'L', name, sizeof(name));
	archive_add(&archive, "nnn", '0', "gnu", 3);
	archive_add(&archive, "pax", 'x', "13 path=p/q\n", 12);
	archive_add(&archive, "short", '0', "pax", 3);
	archive_add(&archive, "plain", '0', "own", 3);
	archive_end(&archive);
	tp_buf_printf(&wanted, "%s=gnu;short=pax;plain=own;", name);
	assert_lists(&archive, tp_buf_text(&wanted));
	tp_buf_release(&wanted);
	tp_buf_release(&archive);
}
END_TEST

START_TEST(pax_headers_say_path_and_size)
{
	struct tp_buf archive = {0};
	archive_add(&archive, "pax", 'x', "11 path=long\n9 size=4\n20 comment=ignored\n", 40);
	tp_buf_clear(&archive);
	archive_add(&archive, "pax", 'x', "13 path=long\n9 size=4\n19 comment=ignored\n", 41);
	size_t header = archive.len;
	archive_add(&archive, "short", '0', "data", 4);
	archive_end(&archive);
	assert_lists(&archive, "long=data;");
	/* Then the size in the header does not matter. */
	memset(archive.data + header + 124, '0', 11);
	archive_sum(archive.data + header);
	assert_lists(&archive, "long=data;");
	tp_buf_release(&archive);
}
END_TEST

static const struct {
	const char *records;
	size_t len;
	const char *wanted;
} paxes[] = {
	{"", 0, "name=data;"},
	{"garbage", 7, "name=data;"},
	{"99999999999999999999 path=x\n", 28, "name=data;"},
	{"3 p\n", 4, "name=data;"},
	{"0 path=x\n", 9, "name=data;"},
	{"9 path=x", 8, "name=data;"},
	{"10 pathx=\n", 10, "name=data;"},
	{"9 path=\n\n", 9, "\n=data;"},
	{"12 size=abc\n", 12, "damaged"},
	{"11 size=-1\n", 11, "damaged"},
	{"30 size=99999999999999999999\n\n", 30, "damaged"},
};

START_TEST(pax_headers_that_make_no_sense_say_nothing)
{
	struct tp_buf archive = {0};
	archive_add(&archive, "pax", 'x', paxes[_i].records, paxes[_i].len);
	archive_add(&archive, "name", '0', "data", 4);
	archive_end(&archive);
	assert_lists(&archive, paxes[_i].wanted);
	tp_buf_release(&archive);
}
END_TEST

START_TEST(ustar_names_have_a_prefix)
{
	struct tp_buf archive = {0};
	archive_add(&archive, "name", '0', "data", 4);
	memcpy(archive.data + 345, "a/prefix", 8);
	archive_sum(archive.data);
	archive_end(&archive);
	assert_lists(&archive, "a/prefix/name=data;");
	tp_buf_release(&archive);
}
END_TEST

/* Contents of the twelve bytes of the size. */
static const struct {
	char size[13];
	const char *wanted;
} sizes[] = {
	{"00000000004", "name=data;behind=x;"},
	{"          4 ", "name=data;behind=x;"},
	{"000000000004", "name=data;behind=x;"},
	{"\x80\0\0\0\0\0\0\0\0\0\0\x04", "name=data;behind=x;"},
	{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "damaged"},
	{"\x80\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "damaged"},
	{"-0000000004", "damaged"},
	{"garbage", "damaged"},
	{"777777777777", "name=data"},
	{"\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff", "name=data"},
};

START_TEST(sizes_are_octal_or_binary_and_never_trusted)
{
	struct tp_buf archive = {0};
	struct tp_buf got = {0};
	archive_add(&archive, "name", '0', "data", 4);
	archive_add(&archive, "behind", '0', "x", 1);
	archive_end(&archive);
	memcpy(archive.data + 124, sizes[_i].size, 12);
	archive_sum(archive.data);
	list_cut(&got, &archive, archive.len);
	ck_assert_ptr_nonnull(strstr(tp_buf_text(&got), sizes[_i].wanted));
	/* A size beyond the archive truncates it. */
	if (strlen(sizes[_i].wanted) == 9)
		ck_assert_ptr_nonnull(strstr(tp_buf_text(&got), ";cut"));
	tp_buf_release(&got);
	tp_buf_release(&archive);
}
END_TEST

START_TEST(cut_anywhere_it_says_so)
{
	struct tp_buf archive = {0};
	archive_add(&archive, "a", '0', "first", 5);
	archive_add(&archive, "././@LongLink", 'L', "bbb", 4);
	archive_add(&archive, "b", '0', "second", 6);
	archive_end(&archive);
	for (size_t cut = 0; cut < archive.len; cut += 1 + cut % 7) {
		struct tp_buf got = {0};
		list_cut(&got, &archive, cut);
		bool has_both = strstr(tp_buf_text(&got), "bbb=second;") != NULL;
		bool is_cut = strstr(tp_buf_text(&got), "cut") != NULL;
		if (cut % 512 && !has_both)
			ck_assert_msg(is_cut, "cut at %zu: %s", cut, tp_buf_text(&got));
		ck_assert_int_eq(has_both, cut >= 5 * 512 + 6);
		tp_buf_release(&got);
	}
	tp_buf_release(&archive);
}
END_TEST

START_TEST(a_header_that_is_damaged_ends_the_reading)
{
	struct tp_buf archive = {0};
	archive_add(&archive, "a", '0', "first", 5);
	archive_add(&archive, "b", '0', "second", 6);
	archive_end(&archive);
	archive.data[1024 + 3] ^= 1;
	assert_lists(&archive, "a=first;damaged");
	tp_buf_release(&archive);
}
END_TEST

START_TEST(archives_are_recognised_by_the_sum_of_a_header)
{
	struct tp_buf archive = {0};
	archive_add(&archive, "a", '0', "first", 5);
	const unsigned char *head = (const unsigned char *)archive.data;
	ck_assert(tp_tarball_probe(head, archive.len));
	ck_assert(!tp_tarball_probe(head, 511));
	ck_assert(!tp_tarball_probe(head + 512, 512));
	archive.data[0] = 'b';
	ck_assert(!tp_tarball_probe(head, archive.len));
	memset(archive.data, 0, 512);
	ck_assert(!tp_tarball_probe(head, archive.len));
	tp_buf_release(&archive);
}
END_TEST

#define LOOP(tc, test, table) tcase_add_loop_test(tc, test, 0, sizeof(table) / sizeof((table)[0]))

Suite *suite_import_tarball(void);
Suite *suite_import_tarball(void)
{
	Suite *suite = suite_create("import/tarball");
	TCase *tc = tcase_create("tarball");
	tcase_add_test(tc, files_are_given_and_all_else_is_passed_over);
	tcase_add_test(tc, what_is_left_of_a_member_is_passed_over);
	tcase_add_test(tc, long_names_come_whole);
	tcase_add_test(tc, pax_headers_say_path_and_size);
	LOOP(tc, pax_headers_that_make_no_sense_say_nothing, paxes);
	tcase_add_test(tc, ustar_names_have_a_prefix);
	LOOP(tc, sizes_are_octal_or_binary_and_never_trusted, sizes);
	tcase_add_test(tc, cut_anywhere_it_says_so);
	tcase_add_test(tc, a_header_that_is_damaged_ends_the_reading);
	tcase_add_test(tc, archives_are_recognised_by_the_sum_of_a_header);
	suite_add_tcase(suite, tc);
	return suite;
}
