/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of memory facts. */
#include "analyze/hand.h"

#include "trainprof/model/fact.h"

START_TEST(faults_are_the_programs_and_per_step_the_trainers)
{
	struct hand hand;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/bin/train");
	hand_task(&hand, 1, 101, 101, "/bin/train");
	hand_counter(&hand, TP_METRIC_PROC_MINFLT, 0, 3000);
	hand_counter(&hand, TP_METRIC_PROC_MINFLT, 1, 500);
	hand_counter(&hand, TP_METRIC_PROC_MAJFLT, 0, 2);
	hand_counter(&hand, TP_METRIC_PROC_MAJFLT, 1, 1);
	hand_finish(&hand);
	hand.profile.n_steady = 120;
	hand.profile.step_time.mean = 50e6;
	hand_pass(&hand, tp_pass_memory);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_MEM_MINFLT), 3500, 1e-6);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_MEM_MAJFLT), 3, 1e-6);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_MEM_MINFLT_STEP), 150, 1e-6);
	hand_release(&hand);
}
END_TEST

START_TEST(peak_is_the_largest_sum_at_one_time)
{
	struct hand hand;
	hand_init(&hand);
	hand.run.host.memory_bytes = 8000;
	hand.run.host.memory_limit_bytes = 4000;
	hand_task(&hand, 0, 100, 100, "/bin/train");
	struct tp_task dead = {.id = 1, .tid = 101, .pid = 101, .parent = 0, .start_ns = 1};
	dead.end_ns = 1 + 5 * SECOND;
	tp_sink_task(&hand.builder.sink, &dead);
	hand_gauge(&hand, TP_METRIC_PROC_RSS, 0, 1, 1000);
	hand_gauge(&hand, TP_METRIC_PROC_RSS, 1, 2, 900);
	hand_gauge(&hand, TP_METRIC_PROC_RSS, 1, 4, 700);
	hand_gauge(&hand, TP_METRIC_PROC_RSS, 0, 6, 1800);
	hand_gauge(&hand, TP_METRIC_PROC_RSS, 0, 9, 100);
	hand_finish(&hand);
	hand_pass(&hand, tp_pass_memory);
	/* 1900 at second 2; 1800 after the other process has ended, not 2500. */
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_MEM_RSS), 1900, 1e-6);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_MEM_LIMIT), 4000, 1e-6);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_MEM_USED_RATIO), 1900.0 / 4000, 1e-6);
	hand_release(&hand);
}
END_TEST

static const struct {
	double at_s[10]; /* bytes of the trainer, read every second from 1 s on */
	double per_s;
} growths[] = {
	{{1e9, 1.1e9, 1.2e9, 1.3e9, 1.4e9, 1.5e9, 1.6e9, 1.7e9, 1.8e9, 1.9e9}, 8e8 / 9},
	{{1e9, 1e9, 1e9, 1e9, 1e9, 1e9, 1e9, 1e9, 1e9, 1e9}, 0},
	/* allocated once */
	{{1e9, 1e9, 1e9, 1e9, 9e9, 9e9, 9e9, 9e9, 9e9, 9e9}, 0},
	/* filled and freed */
	{{1e9, 2e9, 3e9, 4e9, 5e9, 1e9, 2e9, 3e9, 4e9, 5e9}, 0},
	{{9e9, 8e9, 7e9, 6e9, 5e9, 4e9, 3e9, 2e9, 1e9, 0}, 0},
};

START_TEST(growth_is_what_each_quarter_of_the_window_shows)
{
	struct hand hand;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/bin/train");
	for (int i = 0; i < 10; i++)
		hand_gauge(&hand, TP_METRIC_PROC_RSS, 0, 1 + i, growths[_i].at_s[i]);
	hand_finish(&hand);
	hand_pass(&hand, tp_pass_memory);
	/* 100 MB per second. Between quarters of 1.5 s, one and a half or two readings are higher
	 * than before, by 133 or 167 MB: at least 133 in 1.5 s. */
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_MEM_GROWTH), growths[_i].per_s, 1e3);
	hand_release(&hand);
}
END_TEST

START_TEST(machine_and_kernel_time_are_rates)
{
	struct hand hand;
	hand_init(&hand);
	hand.run.host.n_numa_nodes = 2;
	hand_task(&hand, 0, 100, 100, "/bin/train");
	hand_counter(&hand, TP_METRIC_SWAP_IN, TP_NO_TASK, 4096);
	hand_counter(&hand, TP_METRIC_SWAP_OUT, TP_NO_TASK, 8192);
	hand_counter(&hand, TP_METRIC_PSI_MEM_SOME, TP_NO_TASK, 0.125e9);
	hand_counter(&hand, TP_METRIC_PROC_UTIME, 0, 0.75e9);
	hand_counter(&hand, TP_METRIC_PROC_STIME, 0, 0.25e9);
	hand_finish(&hand);
	hand_pass(&hand, tp_pass_memory);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_MEM_SWAP), 12288, 1e-6);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_MEM_PSI), 0.125, 1e-9);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_MEM_STIME), 0.25, 1e-9);
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_MEM_NUMA), 2);
	hand_release(&hand);
}
END_TEST

START_TEST(nothing_read_is_nothing_known)
{
	struct hand hand;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/bin/train");
	hand_finish(&hand);
	hand_pass(&hand, tp_pass_memory);
	for (int fact = TP_FACT_MEM_MINFLT; fact <= TP_FACT_MEM_NUMA; fact++)
		ck_assert_str_ne(hand_missing(&hand, (enum tp_fact)fact), "not measured");
	hand_release(&hand);
}
END_TEST

Suite *suite_analyze_pass_memory(void);
Suite *suite_analyze_pass_memory(void)
{
	Suite *suite = suite_create("analyze/pass_memory");
	TCase *tc = tcase_create("memory");
	tcase_add_test(tc, faults_are_the_programs_and_per_step_the_trainers);
	tcase_add_test(tc, peak_is_the_largest_sum_at_one_time);
	tcase_add_test(tc, machine_and_kernel_time_are_rates);
	tcase_add_loop_test(tc, growth_is_what_each_quarter_of_the_window_shows, 0,
			    sizeof(growths) / sizeof(growths[0]));
	tcase_add_test(tc, nothing_read_is_nothing_known);
	suite_add_tcase(suite, tc);
	return suite;
}
