/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the cost of a page fault. */
#include "collect/machine/page_fault_cost.h"

#include <check.h>

START_TEST(a_fault_costs_more_than_a_cache_miss_and_less_than_a_disk_read)
{
	double cost = tp_page_fault_cost_ns();
	ck_assert_double_gt(cost, 50);
	ck_assert_double_lt(cost, 100000);
}
END_TEST

Suite *suite_collect_page_fault_cost(void);
Suite *suite_collect_page_fault_cost(void)
{
	Suite *suite = suite_create("collect/faultcost");
	TCase *tc = tcase_create("faultcost");
	tcase_add_test(tc, a_fault_costs_more_than_a_cache_miss_and_less_than_a_disk_read);
	suite_add_tcase(suite, tc);
	return suite;
}
