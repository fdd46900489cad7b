/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of how often threads that run Python are sampled. */
#include "collect/python/python_budget.h"

#include <check.h>

/* One per cent of two CPUs, of which the program uses one. */
static const struct tp_python_budget two_cpus = {.max_ratio = 0.01, .n_allowed = 2, .n_used = 1};

START_TEST(what_is_cheap_is_sampled_at_the_whole_rate)
{
	ck_assert_uint_eq(tp_python_budget_factor(&two_cpus, 0.004, 1), 1);
	ck_assert_uint_eq(tp_python_budget_factor(&two_cpus, 0.0019, 2), 1);
}
END_TEST

START_TEST(for_half_of_the_limit_the_rate_is_halved_once)
{
	ck_assert_uint_eq(tp_python_budget_factor(&two_cpus, 0.006, 1), 2);
	ck_assert_uint_eq(tp_python_budget_factor(&two_cpus, 0.012, 1), 2);
	ck_assert_uint_eq(tp_python_budget_factor(&two_cpus, 0.014, 2), 2);
}
END_TEST

START_TEST(only_the_limit_lowers_it_further_and_at_once)
{
	ck_assert_uint_eq(tp_python_budget_factor(&two_cpus, 0.016, 2), 4);
	ck_assert_uint_eq(tp_python_budget_factor(&two_cpus, 0.05, 1), 4);
	ck_assert_uint_eq(tp_python_budget_factor(&two_cpus, 0.5, 1), TP_PYTHON_FACTOR_MAX);
}
END_TEST

START_TEST(a_rate_that_would_be_lowered_again_does_not_rise)
{
	ck_assert_uint_eq(tp_python_budget_factor(&two_cpus, 0.0024, 2), 2);
	ck_assert_uint_eq(tp_python_budget_factor(&two_cpus, 0.007, 4), 4);
	ck_assert_uint_eq(tp_python_budget_factor(&two_cpus, 0.005, 4), 2);
}
END_TEST

START_TEST(many_threads_may_cost_as_much_more)
{
	const struct tp_python_budget many = {.max_ratio = 0.01, .n_allowed = 16, .n_used = 8};
	ck_assert_uint_eq(tp_python_budget_factor(&many, 0.03, 1), 1);
	ck_assert_uint_eq(tp_python_budget_factor(&many, 0.05, 1), 2);
}
END_TEST

Suite *suite_collect_python_budget(void);
Suite *suite_collect_python_budget(void)
{
	Suite *suite = suite_create("collect/python_budget");
	TCase *tc = tcase_create("python_budget");
	tcase_add_test(tc, what_is_cheap_is_sampled_at_the_whole_rate);
	tcase_add_test(tc, for_half_of_the_limit_the_rate_is_halved_once);
	tcase_add_test(tc, only_the_limit_lowers_it_further_and_at_once);
	tcase_add_test(tc, a_rate_that_would_be_lowered_again_does_not_rise);
	tcase_add_test(tc, many_threads_may_cost_as_much_more);
	suite_add_tcase(suite, tc);
	return suite;
}
