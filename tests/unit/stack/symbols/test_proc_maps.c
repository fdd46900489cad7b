/* Claims about lines of /proc/PID/maps. */
#include "stack/symbols/proc_maps.h"

#include <check.h>
#include <string.h>

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
	struct tp_mapping out;
	strcpy(line, lines[_i].line);
	ck_assert_int_eq(tp_procmaps_parse(line, &out), lines[_i].is_read);
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

Suite *suite_stack_proc_maps(void);
Suite *suite_stack_proc_maps(void)
{
	Suite *suite = suite_create("stack/procmaps");
	TCase *tc = tcase_create("procmaps");
	tcase_add_loop_test(tc, line_is_taken_apart, 0, (int)(sizeof(lines) / sizeof(lines[0])));
	suite_add_tcase(suite, tc);
	return suite;
}
