/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of hardware counters. */
#include "analyze/hand.h"

#include "trainprof/model/fact.h"

static void put_counters(struct hand *hand, double running)
{
	hand_init(hand);
	hand_task(hand, 0, 100, 100, "/bin/train");
	hand_counter(hand, TP_METRIC_PMU_CYCLES, TP_NO_TASK, 3e9);
	hand_counter(hand, TP_METRIC_PMU_INSTRUCTIONS, TP_NO_TASK, 4.5e9);
	hand_counter(hand, TP_METRIC_PMU_LLC_MISSES, TP_NO_TASK, 9e6);
	hand_gauge(hand, TP_METRIC_PMU_RUNNING, TP_NO_TASK, 5, running);
}

START_TEST(ratios_are_of_growth_in_the_window)
{
	struct hand hand;
	put_counters(&hand, 0.5);
	hand_counter(&hand, TP_METRIC_PMU_SLOTS, TP_NO_TASK, 12e9);
	hand_counter(&hand, TP_METRIC_PMU_MEMORY, TP_NO_TASK, 3e9);
	hand_finish(&hand);
	hand_pass(&hand, tp_pass_counters);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_PMU_IPC), 1.5, 1e-9);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_PMU_LLC), 2, 1e-9);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_PMU_MEMORY), 0.25, 1e-9);
	ck_assert_double_eq_tol(hand.profile.facts[TP_FACT_PMU_IPC].coverage, 0.5, 1e-9);
	hand_release(&hand);
}
END_TEST

START_TEST(counters_that_hardly_ran_are_refused)
{
	struct hand hand;
	put_counters(&hand, 0.04);
	hand_finish(&hand);
	hand_pass(&hand, tp_pass_counters);
	ck_assert_ptr_nonnull(strstr(hand_missing(&hand, TP_FACT_PMU_IPC), "4.0 %"));
	hand_release(&hand);
}
END_TEST

START_TEST(events_missing_on_this_cpu_are_distinguished_from_no_counters)
{
	struct hand hand;
	put_counters(&hand, 1);
	hand_finish(&hand);
	hand_pass(&hand, tp_pass_counters);
	ck_assert_str_eq(hand_missing(&hand, TP_FACT_PMU_MEMORY),
			 "this CPU has no top-down events");
	hand_release(&hand);
	hand_init(&hand);
	hand_source(&hand, "pmu", TP_PRESENCE_NO_DEVICE, "no PMU in this virtual machine", 0, 0);
	hand_finish(&hand);
	hand_pass(&hand, tp_pass_counters);
	ck_assert_str_eq(hand_missing(&hand, TP_FACT_PMU_MEMORY), "no PMU in this virtual machine");
	hand_release(&hand);
}
END_TEST

Suite *suite_analyze_pass_counters(void);
Suite *suite_analyze_pass_counters(void)
{
	Suite *suite = suite_create("analyze/pass_counters");
	TCase *tc = tcase_create("counters");
	tcase_add_test(tc, ratios_are_of_growth_in_the_window);
	tcase_add_test(tc, counters_that_hardly_ran_are_refused);
	tcase_add_test(tc, events_missing_on_this_cpu_are_distinguished_from_no_counters);
	suite_add_tcase(suite, tc);
	return suite;
}
