/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of finding files among a process's mappings. */
#include "inject/image_map.h"

#include <check.h>
#include <stdio.h>
#include <unistd.h>

static const char text[] =
	"55d000000000-55d000001000 r--p 00000000 08:01 11                         "
	"/usr/bin/libc-tool\n"
	"55d000001000-55d000002000 r-xp 00001000 08:01 11                         "
	"/usr/bin/libc-tool\n"
	"7f0000000000-7f0000028000 r--p 00000000 08:01 12                         "
	"/usr/lib/libc.so.6\n"
	"7f0000028000-7f0000180000 r-xp 00028000 08:01 12                         "
	"/usr/lib/libc.so.6\n"
	"7f0000180000-7f00001d0000 r--p 00180000 08:01 12                         "
	"/usr/lib/libc.so.6\n"
	"7f00001d0000-7f00001d8000 rw-p 00000000 00:00 0 \n"
	"7f0000200000-7f0000201000 r--s 00000000 08:01 13                         "
	"/data/libcuda.so.1\n"
	"7f0000300000-7f0000400000 r-xp 00000000 08:01 14                         /x "
	"y/libcuda.so.1\n"
	"7f0000500000-7f0000501000 r--p 00000000 00:01 15                         "
	"/memfd:trainprof-agent (deleted)\n"
	"7f0000501000-7f0000508000 r-xp 00001000 00:01 15                         "
	"/memfd:trainprof-agent (deleted)\n"
	"7f0000600000-7f0000601000 r--p 00000000 08:01 16                         /lib/ld-2.31.so\n"
	"7f0000601000-7f0000620000 r-xp 00001000 08:01 16                         /lib/ld-2.31.so\n"
	"7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0                          [vdso]\n"
	"7ffd";

static const struct {
	const char *prefix;
	uint64_t start; /* 0 = not mapped */
	uint64_t code_start;
	uint64_t end;
} cases[] = {
	{"libc.so", 0x7f0000000000, 0x7f0000028000, 0x7f00001d0000},
	{"libcuda", 0x7f0000300000, 0x7f0000300000, 0x7f0000400000}, /* the one with code */
	{"memfd:trainprof-agent", 0x7f0000500000, 0x7f0000501000, 0x7f0000508000},
	{"ld", 0x7f0000600000, 0x7f0000601000, 0x7f0000620000},
	{"[vdso]", 0x7ffd00000000, 0x7ffd00000000, 0x7ffd00002000},
	{"libcu", 0, 0, 0},
	{"y", 0, 0, 0},
	{"libm", 0, 0, 0},
};

START_TEST(a_file_is_found_by_the_begin_of_its_name)
{
	struct tp_image_map map;
	struct tp_image image = {0};
	tp_image_map_parse(&map, text);
	bool is_there = tp_image_map_find(&image, &map, cases[_i].prefix);
	ck_assert_int_eq(is_there, cases[_i].start != 0);
	if (is_there) {
		ck_assert_uint_eq(image.start, cases[_i].start);
		ck_assert_uint_eq(image.code_start, cases[_i].code_start);
		ck_assert_uint_eq(image.end, cases[_i].end);
	}
	tp_image_map_release(&map);
}
END_TEST

START_TEST(our_own_c_library_is_found)
{
	struct tp_image_map map;
	struct tp_image image;
	struct tp_error err = {0};
	ck_assert_msg(tp_image_map_read(&map, getpid(), &err) == TP_OK, "%s", err.text);
	ck_assert(tp_image_map_find_libc(&image, &map));
	ck_assert_uint_lt(image.start, image.end);
	tp_image_map_release(&map);
}
END_TEST

START_TEST(a_process_that_is_gone_is_said_to_be)
{
	struct tp_image_map map;
	struct tp_error err = {0};
	ck_assert_int_eq(tp_image_map_read(&map, 0x7fffffff, &err), TP_ABSENT);
}
END_TEST

Suite *suite_inject_image_map(void);
Suite *suite_inject_image_map(void)
{
	Suite *suite = suite_create("inject/imagemap");
	TCase *tcase = tcase_create("all");
	tcase_add_loop_test(tcase, a_file_is_found_by_the_begin_of_its_name, 0,
			    sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tcase, our_own_c_library_is_found);
	tcase_add_test(tcase, a_process_that_is_gone_is_said_to_be);
	suite_add_tcase(suite, tcase);
	return suite;
}
