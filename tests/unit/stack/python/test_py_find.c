/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of finding an interpreter. Real ones: tests/python/check_python.sh. */
#include "stack/python/py_find.h"

#include <check.h>
#include <unistd.h>

static const struct {
	const char *path;
	unsigned minor;
} names[] = {
	{"/usr/bin/python3.8", 8},
	{"/opt/conda/bin/python3.10", 10},
	{"/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0", 11},
	{"/usr/lib/libpython3.9d.so.1.0", 9},
	{"python3.13t", 13},
	{"/usr/bin/python3.12 (deleted)", 12},
	{"/usr/bin/python3", 0},
	{"/usr/bin/python", 0},
	{"/usr/bin/ipython3.11", 0},
	{"/home/python3.11/train", 0},
	{"/usr/bin/python3.4294967297", 0},
	{"", 0},
};

START_TEST(the_file_name_gives_the_version)
{
	ck_assert_uint_eq(tp_py_find_minor(names[_i].path), names[_i].minor);
}
END_TEST

START_TEST(a_program_without_python_has_none)
{
	struct tp_py_memory mem;
	struct tp_py_find_result found = {0};
	struct tp_error err;
	tp_py_memory_init_process(&mem, getpid());
	ck_assert_int_eq(tp_py_find(&found, "/proc", getpid(), &mem, &err), TP_ABSENT);
	ck_assert_ptr_null(found.path);
	ck_assert_int_ne(tp_py_find(&found, "/nowhere", getpid(), &mem, &err), TP_OK);
}
END_TEST

Suite *suite_stack_py_find(void);
Suite *suite_stack_py_find(void)
{
	Suite *suite = suite_create("stack/pyfind");
	TCase *tc = tcase_create("pyfind");
	tcase_add_loop_test(tc, the_file_name_gives_the_version, 0,
			    (int)(sizeof(names) / sizeof(names[0])));
	tcase_add_test(tc, a_program_without_python_has_none);
	suite_add_tcase(suite, tc);
	return suite;
}
