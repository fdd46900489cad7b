/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of sets of CPUs. */
#include "collect/machine/cpu_list.h"

#include <check.h>

static const struct {
	const char *text;
	bool is_list;
	uint32_t n;
	uint32_t inside; /* UINT32_MAX = none */
	uint32_t outside;
} lists[] = {
	{"0", true, 1, 0, 1},
	{"0-3", true, 4, 3, 4},
	{"0-3,8\n", true, 5, 8, 7},
	{"0-15,32-47", true, 32, 47, 16},
	{"", true, 0, UINT32_MAX, 0},
	{"\n", true, 0, UINT32_MAX, 0},
	{"8191", true, 1, 8191, 8192},
	{"0-99999999999", true, 8192, 8191, 8192},
	{"3-1", false, 0, UINT32_MAX, 1},
	{"1,,2", false, 0, UINT32_MAX, 1},
	{"a", false, 0, UINT32_MAX, 0},
	{"1-", false, 0, UINT32_MAX, 1},
	{"-1", false, 0, UINT32_MAX, 1},
	{"1 2", false, 0, UINT32_MAX, 1},
	{"0-18446744073709551615", true, 8192, 64, 8192},
};

START_TEST(cpulist_reads_what_the_kernel_writes_and_nothing_else)
{
	struct tp_cpu_list list;
	ck_assert_int_eq(tp_cpu_list_parse(&list, lists[_i].text), lists[_i].is_list);
	ck_assert_uint_eq(tp_cpu_list_count(&list), lists[_i].n);
	if (lists[_i].inside != UINT32_MAX)
		ck_assert(tp_cpu_list_has(&list, lists[_i].inside));
	ck_assert(!tp_cpu_list_has(&list, lists[_i].outside));
}
END_TEST

START_TEST(cpulist_intersection_keeps_common_cpus_only)
{
	struct tp_cpu_list a;
	struct tp_cpu_list b;
	ck_assert(tp_cpu_list_parse(&a, "0-127"));
	ck_assert(tp_cpu_list_parse(&b, "1,64,200"));
	tp_cpu_list_intersect(&a, &b);
	ck_assert_uint_eq(tp_cpu_list_count(&a), 2);
	ck_assert(tp_cpu_list_has(&a, 64) && !tp_cpu_list_has(&a, 200));
}
END_TEST

Suite *suite_collect_cpu_list(void);
Suite *suite_collect_cpu_list(void)
{
	Suite *suite = suite_create("collect/cpulist");
	TCase *tc = tcase_create("cpulist");
	tcase_add_loop_test(tc, cpulist_reads_what_the_kernel_writes_and_nothing_else, 0,
			    sizeof(lists) / sizeof(lists[0]));
	tcase_add_test(tc, cpulist_intersection_keeps_common_cpus_only);
	suite_add_tcase(suite, tc);
	return suite;
}
