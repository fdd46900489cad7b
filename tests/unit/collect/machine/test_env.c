/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of additions to an environment. */
#include "trainprof/collect/env.h"

#include <check.h>
#include <stdlib.h>

static char *base[] = {(char[]){"PATH=/bin"}, (char[]){"TP=old"}, (char[]){"TPX=1"},
		       (char[]){"ODD"}, NULL};

START_TEST(additions_replace_and_the_rest_stays_in_order)
{
	struct tp_env env = {0};
	tp_env_set(&env, "TP", "first");
	tp_env_set(&env, "NEW", "a=b");
	tp_env_set(&env, "TP", "second");
	char **merged = tp_env_merge(&env, base);
	static const char *const expected[] = {"PATH=/bin", "TPX=1", "ODD", "TP=second", "NEW=a=b"};
	for (int i = 0; i < 5; i++)
		ck_assert_str_eq(merged[i], expected[i]);
	ck_assert_ptr_null(merged[5]);
	free(merged);
	tp_env_release(&env);
}
END_TEST

START_TEST(no_additions_change_nothing)
{
	struct tp_env env = {0};
	char **merged = tp_env_merge(&env, base);
	for (int i = 0; i <= 4; i++)
		ck_assert_ptr_eq(merged[i], base[i]);
	free(merged);
	tp_env_release(&env);
}
END_TEST

Suite *suite_collect_env(void);
Suite *suite_collect_env(void)
{
	Suite *suite = suite_create("collect/env");
	TCase *tc = tcase_create("env");
	tcase_add_test(tc, additions_replace_and_the_rest_stays_in_order);
	tcase_add_test(tc, no_additions_change_nothing);
	suite_add_tcase(suite, tc);
	return suite;
}
