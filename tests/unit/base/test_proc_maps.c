/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of lines of /proc/PID/maps. */
#include "trainprof/base/proc_maps.h"

#include <check.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *line;
	bool is_read;
	struct tp_mapping mapping;
} lines[] = {
	{"7f0000001000-7f0000003000 r-xp 00028000 fe:01 1234                      "
	 "/usr/lib/libc.so.6",
	 true,
	 {0x7f0000001000, 0x2000, 0x28000, 1234, 0xfe, 1, true, "/usr/lib/libc.so.6"}},
	{"00400000-00401000 r--p 00000000 00:2e 5   /a b (deleted)",
	 true,
	 {0x400000, 0x1000, 0, 5, 0, 0x2e, false, "/a b (deleted)"}},
	{"7ffc00000000-7ffc00002000 r-xp 00000000 00:00 0                          [vdso]",
	 true,
	 {0x7ffc00000000, 0x2000, 0, 0, 0, 0, true, "[vdso]"}},
	{"7f00-7f01 rwxp 00000000 00:00 0 ", true, {0x7f00, 1, 0, 0, 0, 0, true, ""}},
	{"7f00-7f01 rwxp 00000000 00:00 0", true, {0x7f00, 1, 0, 0, 0, 0, true, ""}},
	{"7f01-7f00 r-xp 0 00:00 0", false, {0}},
	{"7f00-7f01 r-x", false, {0}},
	{"7f00-7f01", false, {0}},
	{"7f00-7f01 r-xp zz 00:00 0", false, {0}},
	{"-", false, {0}},
	{"", false, {0}},
};

START_TEST(line_is_taken_apart)
{
	char line[200];
	char *at = line;
	struct tp_mapping out;
	strcpy(line, lines[_i].line);
	ck_assert_int_eq(tp_proc_maps_next(&at, &out), lines[_i].is_read);
	if (!lines[_i].is_read)
		return;
	const struct tp_mapping *expected = &lines[_i].mapping;
	ck_assert_uint_eq(out.start, expected->start);
	ck_assert_uint_eq(out.size, expected->size);
	ck_assert_uint_eq(out.file_offset, expected->file_offset);
	ck_assert_uint_eq(out.inode, expected->inode);
	ck_assert_uint_eq(out.dev_major, expected->dev_major);
	ck_assert_uint_eq(out.dev_minor, expected->dev_minor);
	ck_assert_int_eq(out.is_executable, expected->is_executable);
	ck_assert_str_eq(out.path, expected->path);
}
END_TEST

START_TEST(lines_come_in_their_order_without_those_that_are_none)
{
	char text[] = "1000-2000 r-xp 00000000 08:01 7   /a\n"
		      "nonsense\n"
		      "\n"
		      "2000-4000 rw-p 00000000 00:00 0 \n"
		      "5000-6000 r--p 00001000 08:01 7   /a";
	char *at = text;
	struct tp_mapping out;
	ck_assert(tp_proc_maps_next(&at, &out));
	ck_assert_uint_eq(out.start, 0x1000);
	ck_assert_str_eq(out.path, "/a");
	ck_assert(tp_proc_maps_next(&at, &out));
	ck_assert_uint_eq(out.size, 0x2000);
	ck_assert_str_eq(out.path, "");
	ck_assert(tp_proc_maps_next(&at, &out));
	ck_assert_uint_eq(out.start, 0x5000);
	ck_assert_str_eq(out.path, "/a");
	ck_assert(!tp_proc_maps_next(&at, &out));
	at = NULL;
	ck_assert(!tp_proc_maps_next(&at, &out));
}
END_TEST

START_TEST(our_own_code_is_mapped)
{
	struct tp_buf text = {0};
	struct tp_mapping out;
	uint64_t own = (uint64_t)(uintptr_t)&tp_proc_maps_next;
	bool is_found = false;
	ck_assert_int_eq(tp_proc_maps_read(&text, "/proc", getpid(), NULL), TP_OK);
	for (char *at = text.data; tp_proc_maps_next(&at, &out);)
		is_found |= out.is_executable && own >= out.start && own - out.start < out.size;
	ck_assert(is_found);
	tp_buf_release(&text);
}
END_TEST

START_TEST(a_process_that_is_gone_has_none)
{
	struct tp_buf text = {0};
	ck_assert_int_eq(tp_proc_maps_read(&text, "/proc", 0x7fffffff, NULL), TP_ABSENT);
}
END_TEST

Suite *suite_base_proc_maps(void);
Suite *suite_base_proc_maps(void)
{
	Suite *suite = suite_create("base/proc_maps");
	TCase *tc = tcase_create("proc_maps");
	tcase_add_loop_test(tc, line_is_taken_apart, 0, (int)(sizeof(lines) / sizeof(lines[0])));
	tcase_add_test(tc, lines_come_in_their_order_without_those_that_are_none);
	tcase_add_test(tc, our_own_code_is_mapped);
	tcase_add_test(tc, a_process_that_is_gone_has_none);
	suite_add_tcase(suite, tc);
	return suite;
}
