/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of which threads have the CPUs while the trainer waits for one. */
#include "analyze/hand.h"

#include "trainprof/model/fact.h"

/* The trainer waits for a CPU from 3 to 7; two workers run from 2 to 5 and from 2 to 7. */
static void open_crowded(struct hand *hand)
{
	hand_init(hand);
	hand_task(hand, 0, 100, 100, "/bin/train");
	hand_task(hand, 1, 200, 200, "/bin/train");
	hand_task(hand, 2, 300, 300, "/bin/train");
	hand_run(hand, 0, 0, 3, TP_RUN_PREEMPTED);
	hand_run(hand, 0, 7, 10, TP_RUN_EXITED);
	hand_run(hand, 1, 2, 5, TP_RUN_BLOCKED);
	hand_run(hand, 2, 2, 7, TP_RUN_BLOCKED);
}

START_TEST(cpus_are_counted_by_who_has_them)
{
	struct hand hand;
	open_crowded(&hand);
	hand_finish(&hand);
	hand.analysis.threads[1].role = TP_THREAD_LOADER;
	hand.analysis.threads[2].role = TP_THREAD_OTHER;
	hand_pass(&hand, tp_pass_cpu_wait);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_CPU_WAIT_LOADERS), 0.5, 1e-6);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_CPU_WAIT_OTHERS), 1, 1e-6);
	hand_release(&hand);
}
END_TEST

/* Both workers have the two CPUs, or are ready to, from 3 to 5 of the wait from 3 to 7: without
 * other programs the trainer would have had one from 5 on. */
START_TEST(a_wait_is_foreign_while_the_program_leaves_a_cpu)
{
	static const double foreign[] = {0, 0.5, 1};
	struct hand hand;
	open_crowded(&hand);
	hand_finish(&hand);
	tp_profile_set(&hand.profile, TP_FACT_CPU_ALLOWED, _i + 1, TP_ORIGIN_MEASURED, 1);
	hand_pass(&hand, tp_pass_cpu_wait);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_CPU_WAIT_FOREIGN), foreign[_i], 1e-6);
	hand_release(&hand);
}
END_TEST

START_TEST(without_allowed_cpus_no_wait_is_called_foreign)
{
	struct hand hand;
	open_crowded(&hand);
	hand_finish(&hand);
	tp_profile_set_missing(&hand.profile, TP_FACT_CPU_ALLOWED, "no mask was read");
	hand_pass(&hand, tp_pass_cpu_wait);
	ck_assert_str_eq(hand_missing(&hand, TP_FACT_CPU_WAIT_FOREIGN), "no mask was read");
	hand_release(&hand);
}
END_TEST

START_TEST(without_a_wait_it_is_unknown)
{
	struct hand hand;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/bin/train");
	hand_run(&hand, 0, 0, 10, TP_RUN_EXITED);
	hand_finish(&hand);
	hand_pass(&hand, tp_pass_cpu_wait);
	ck_assert_str_eq(hand_missing(&hand, TP_FACT_CPU_WAIT_LOADERS),
			 "the trainer hardly waits for a CPU");
	hand_release(&hand);
}
END_TEST

START_TEST(without_switches_or_a_trainer_it_is_unknown)
{
	struct hand hand;
	hand_init(&hand);
	hand_finish(&hand);
	hand_pass(&hand, tp_pass_cpu_wait);
	ck_assert_str_eq(hand_missing(&hand, TP_FACT_CPU_WAIT_OTHERS), "no switches were recorded");
	hand_release(&hand);
	open_crowded(&hand);
	hand_finish(&hand);
	hand.analysis.main_task = TP_NO_TASK;
	hand_pass(&hand, tp_pass_cpu_wait);
	ck_assert_str_eq(hand_missing(&hand, TP_FACT_CPU_WAIT_OTHERS), "there is no trainer");
	hand_release(&hand);
}
END_TEST

Suite *suite_analyze_pass_cpu_wait(void);
Suite *suite_analyze_pass_cpu_wait(void)
{
	Suite *suite = suite_create("analyze_pass_cpu_wait");
	TCase *tests = tcase_create("waits");
	tcase_add_test(tests, cpus_are_counted_by_who_has_them);
	tcase_add_loop_test(tests, a_wait_is_foreign_while_the_program_leaves_a_cpu, 0, 3);
	tcase_add_test(tests, without_allowed_cpus_no_wait_is_called_foreign);
	tcase_add_test(tests, without_a_wait_it_is_unknown);
	tcase_add_test(tests, without_switches_or_a_trainer_it_is_unknown);
	suite_add_tcase(suite, tests);
	return suite;
}
