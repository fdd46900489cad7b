/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of times of records in a time namespace. */
#include "collect/machine/kernel_time.h"

#include <check.h>

START_TEST(the_offset_of_the_namespace_is_added)
{
	ck_assert_uint_eq(
		tp_kernel_time_add_offset(5, "monotonic      100000         7\nboottime 3 0\n"),
		100000ULL * 1000000000 + 12);
	ck_assert_uint_eq(tp_kernel_time_add_offset(2000000000000,
						    "monotonic  -1000  0\nboottime 0 0\n"),
			  1000000000000);
	ck_assert_uint_eq(tp_kernel_time_add_offset(5, "monotonic 0 0\nboottime 9 0\n"), 5);
}
END_TEST

START_TEST(without_namespaces_times_stay)
{
	ck_assert_uint_eq(tp_kernel_time_add_offset(5, ""), 5);
	ck_assert_uint_eq(tp_kernel_time_add_offset(5, "something else\n"), 5);
}
END_TEST

Suite *suite_collect_kernel_time(void);
Suite *suite_collect_kernel_time(void)
{
	Suite *suite = suite_create("collect/kernel_time");
	TCase *tc = tcase_create("times");
	tcase_add_test(tc, the_offset_of_the_namespace_is_added);
	tcase_add_test(tc, without_namespaces_times_stay);
	suite_add_tcase(suite, tc);
	return suite;
}
