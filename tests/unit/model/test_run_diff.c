/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the names used in a comparison of runs. */
#include "trainprof/model/run_diff.h"

#include <check.h>

START_TEST(names_are_those_of_the_schema)
{
	ck_assert_str_eq(tp_comparable_name(TP_LIKE_WORKLOAD), "workload");
	ck_assert_str_eq(tp_comparable_name(TP_LIKE_SOFTWARE), "software");
	ck_assert_str_eq(tp_gate_verdict_name(TP_GATE_PASS), "pass");
	ck_assert_str_eq(tp_gate_verdict_name(TP_GATE_UNDECIDED), "undecided");
	ck_assert_str_eq(tp_item_kind_name(TP_ITEM_FINDING), "finding");
	ck_assert_str_eq(tp_item_kind_name(TP_ITEM_PLACE), "place");
}
END_TEST

START_TEST(a_run_has_failed_by_its_status_or_a_signal)
{
	ck_assert(!tp_run_has_failed(&(struct tp_run_values){.end = "exited"}));
	ck_assert(!tp_run_has_failed(&(struct tp_run_values){.end = "detached"}));
	ck_assert(!tp_run_has_failed(&(struct tp_run_values){0}));
	ck_assert(tp_run_has_failed(&(struct tp_run_values){.end = "exited", .end_code = 1}));
	ck_assert(tp_run_has_failed(&(struct tp_run_values){.end = "signaled"}));
}
END_TEST

Suite *suite_model_run_diff(void);

Suite *suite_model_run_diff(void)
{
	Suite *s = suite_create("model_run_diff");
	TCase *tc = tcase_create("all");
	tcase_add_test(tc, a_run_has_failed_by_its_status_or_a_signal);
	tcase_add_test(tc, names_are_those_of_the_schema);
	suite_add_tcase(s, tc);
	return s;
}
