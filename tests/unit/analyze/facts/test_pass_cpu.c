/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of which programs had the CPUs. */
#include "analyze/hand.h"

#include "trainprof/model/fact.h"

/* A trainer of two threads and a loader process; another program takes 0.3 CPUs. */
static void busy_machine(struct hand *hand)
{
	hand_init(hand);
	hand_task(hand, 0, 100, 100, "/bin/train");
	hand_task(hand, 1, 100, 101, "");
	hand_task(hand, 2, 102, 102, "/bin/train");
	hand_counter(hand, TP_METRIC_PROC_UTIME, 0, 0.9e9);
	hand_counter(hand, TP_METRIC_PROC_STIME, 0, 0.1e9);
	hand_counter(hand, TP_METRIC_PROC_UTIME, 2, 0.2e9);
	hand_counter(hand, TP_METRIC_PROC_STIME, 2, 0);
	hand_counter(hand, TP_METRIC_CPU_BUSY, TP_NO_TASK, 1.51e9);
	hand_counter(hand, TP_METRIC_CPU_IDLE, TP_NO_TASK, 0.39e9);
	hand_counter(hand, TP_METRIC_CPU_STEAL, TP_NO_TASK, 0.1e9);
	hand_counter(hand, TP_METRIC_SELF_CPU, TP_NO_TASK, 0.01e9);
	hand_counter(hand, TP_METRIC_PSI_CPU, TP_NO_TASK, 0.25e9);
	hand_counter(hand, TP_METRIC_TASK_RUN, 0, 0.8e9);
	hand_counter(hand, TP_METRIC_TASK_DELAY, 0, 0.1e9);
	hand_counter(hand, TP_METRIC_TASK_RUN, 1, 0.2e9);
	hand_counter(hand, TP_METRIC_TASK_DELAY, 1, 0.15e9);
	hand_counter(hand, TP_METRIC_TASK_RUN, 2, 0.2e9);
	hand_counter(hand, TP_METRIC_TASK_DELAY, 2, 0.05e9);
}

START_TEST(cpus_are_shared_out_without_rest)
{
	struct hand hand;
	busy_machine(&hand);
	hand_finish(&hand);
	hand_pass(&hand, tp_pass_cpu);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_CPU_ALLOWED), 2, 1e-9);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_CPU_TREE_BUSY), 1.2, 1e-6);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_CPU_IDLE), 0.39, 1e-6);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_CPU_OTHERS), 0.3, 1e-6);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_CPU_STEAL), 0.05, 1e-6);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_CPU_BUSY_RATIO), 1 - 0.39 / 2, 1e-6);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_CPU_PSI), 0.25, 1e-6);
	double all = hand_fact(&hand, TP_FACT_CPU_TREE_BUSY) +
		     hand_fact(&hand, TP_FACT_CPU_OTHERS) + hand_fact(&hand, TP_FACT_CPU_IDLE) +
		     2 * hand_fact(&hand, TP_FACT_CPU_STEAL) + 0.01;
	ck_assert_double_eq_tol(all, 2, 1e-6);
	hand_release(&hand);
}
END_TEST

/* A program that yields to ours leaves its CPU idle for it; a mask hides on which CPUs it ran. */
START_TEST(who_yields_takes_no_cpu)
{
	struct hand hand;
	busy_machine(&hand);
	hand_counter(&hand, TP_METRIC_CPU_YIELDING, TP_NO_TASK, _i == 2 ? 0.9e9 : 0.2e9);
	hand_finish(&hand);
	hand.trace.run.host.n_cpus = _i == 1 ? 4 : 2;
	hand_pass(&hand, tp_pass_cpu);
	static const double others[] = {0.1, 0.3, 0};
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_CPU_OTHERS), others[_i], 1e-6);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_CPU_IDLE), 0.69 - others[_i], 1e-6);
	hand_release(&hand);
}
END_TEST

START_TEST(waiting_for_a_cpu_is_measured_over_the_trainer)
{
	struct hand hand;
	busy_machine(&hand);
	hand_finish(&hand);
	hand_pass(&hand, tp_pass_cpu);
	/* The trainer runs 1.0 and waits 0.25; the program 1.2 and 0.3. */
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_CPU_DELAY), 0.25 / 1.25, 1e-6);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_CPU_RUNNABLE), 1.5, 1e-6);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_CPU_PER_CORE), 0.75, 1e-6);
	hand_release(&hand);
}
END_TEST

START_TEST(the_mask_of_the_trainer_bounds_what_is_allowed_and_what_idles)
{
	struct hand hand;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/bin/train");
	hand_counter(&hand, TP_METRIC_CPU_BUSY, TP_NO_TASK, 0.9e9);
	hand_counter(&hand, TP_METRIC_CPU_IDLE, TP_NO_TASK, 1.1e9);
	hand_counter(&hand, TP_METRIC_PROC_UTIME, 0, 0.9e9);
	hand_counter(&hand, TP_METRIC_PROC_STIME, 0, 0);
	hand_gauge(&hand, TP_METRIC_PROC_CPUS, 0, 0.1, 2);
	hand_gauge(&hand, TP_METRIC_PROC_CPUS, 0, 0.5, 1);
	hand_finish(&hand);
	hand.profile.trainer = 0;
	hand_pass(&hand, tp_pass_cpu);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_CPU_ALLOWED), 1, 1e-9);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_CPU_IDLE), 0.1, 1e-3);
	hand_release(&hand);
}
END_TEST

START_TEST(a_quota_bounds_what_is_allowed_and_what_idles)
{
	struct hand hand;
	busy_machine(&hand);
	hand_gauge(&hand, TP_METRIC_CG_QUOTA, TP_NO_TASK, 0, 1.3);
	hand_counter(&hand, TP_METRIC_CG_THROTTLED, TP_NO_TASK, 0.5e9);
	hand_finish(&hand);
	hand_pass(&hand, tp_pass_cpu);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_CPU_QUOTA), 1.3, 1e-9);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_CPU_ALLOWED), 1.3, 1e-9);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_CPU_IDLE), 0.1, 1e-6);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_CPU_BUSY_RATIO), 1.2 / 1.3, 1e-6);
	/* Stopped half of the time, on each of the two CPUs that 1.5 threads want. */
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_CPU_THROTTLED), 0.25, 1e-6);
	hand_release(&hand);
}
END_TEST

START_TEST(without_a_quota_throttling_is_known_to_be_zero)
{
	struct hand hand;
	busy_machine(&hand);
	hand_finish(&hand);
	hand_pass(&hand, tp_pass_cpu);
	ck_assert_str_eq(hand_missing(&hand, TP_FACT_CPU_QUOTA), "no cgroup CPU quota");
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_CPU_THROTTLED), 0);
	hand_release(&hand);
}
END_TEST

START_TEST(switches_are_counted_inside_the_window)
{
	struct hand hand;
	busy_machine(&hand);
	for (int i = 0; i < 100; i++)
		hand_run(&hand, 0, i * 0.1, i * 0.1 + 0.05,
			 i % 4 ? TP_RUN_BLOCKED : TP_RUN_PREEMPTED);
	for (int i = 0; i < 10; i++)
		hand_run(&hand, 2, i, i + 0.5, TP_RUN_PREEMPTED);
	hand_finish(&hand);
	hand_pass(&hand, tp_pass_cpu);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_CPU_SWITCHES), 11, 0.2);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_CPU_PREEMPTED), 2.5, 0.2);
	hand_release(&hand);
}
END_TEST

START_TEST(switches_are_counted_up_where_they_were_not_recorded)
{
	struct hand hand;
	busy_machine(&hand);
	for (int i = 0; i < 100; i++) { /* recorded for one second of three */
		bool is_last = i / 10 % 3 == 0 && i % 10 == 9;
		if (i / 10 % 3 == 0)
			hand_run(&hand, 0, i * 0.1, i * 0.1 + 0.05, TP_RUN_BLOCKED);
		if (is_last)
			hand_run(&hand, 0, (i + 1) * 0.1, (i + 1) * 0.1, TP_RUN_OPEN);
	}
	struct tp_sample look = {.state = TP_STATE_ON_CPU, .flags = TP_SAMPLE_POLLED};
	for (int i = 0; i < 200; i++)
		if (i / 20 % 3 != 0)
			hand_sample(&hand, &look, i * 0.05 + 0.001);
	hand_finish(&hand);
	hand_pass(&hand, tp_pass_cpu);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_CPU_SWITCHES), 10, 0.2);
	hand_release(&hand);
}
END_TEST

START_TEST(without_readings_every_fact_has_its_reason)
{
	struct hand hand;
	hand_init(&hand);
	hand.run.host.n_cpus = 0;
	hand.run.host.n_allowed = 0;
	hand_task(&hand, 0, 100, 100, "/bin/train");
	hand_source(&hand, "host", TP_PRESENCE_OFF, "left out by --collect", 0, 0);
	hand_finish(&hand);
	hand_pass(&hand, tp_pass_cpu);
	static const enum tp_fact by_host[] = {TP_FACT_CPU_BUSY_RATIO, TP_FACT_CPU_IDLE,
					       TP_FACT_CPU_OTHERS, TP_FACT_CPU_STEAL,
					       TP_FACT_CPU_PSI};
	for (size_t i = 0; i < sizeof(by_host) / sizeof(by_host[0]); i++)
		ck_assert_str_eq(hand_missing(&hand, by_host[i]), "left out by --collect");
	static const enum tp_fact others[] = {TP_FACT_CPU_ALLOWED,  TP_FACT_CPU_DELAY,
					      TP_FACT_CPU_RUNNABLE, TP_FACT_CPU_PER_CORE,
					      TP_FACT_CPU_SWITCHES, TP_FACT_CPU_PREEMPTED};
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		ck_assert_str_ne(hand_missing(&hand, others[i]), "not measured");
	hand_release(&hand);
}
END_TEST

START_TEST(runs_stand_in_for_threads_that_were_never_read)
{
	struct hand hand;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/bin/train");
	hand_run(&hand, 0, 0, 4, TP_RUN_PREEMPTED);
	hand_run(&hand, 0, 5, 10, TP_RUN_EXITED);
	hand_finish(&hand);
	hand_pass(&hand, tp_pass_cpu);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_CPU_TREE_BUSY), 5.0 / 6, 1e-6);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_CPU_DELAY), 1.0 / 6, 1e-6);
	hand_release(&hand);
}
END_TEST

/* Runs for 1 ms on the second CPU and is then off it for 0.5 ms, preempted or blocked; or runs on
 * both CPUs. */
static const struct {
	enum tp_run_end how;
	uint32_t first_cpu;
	double allowed;
} masks[] = {
	{TP_RUN_PREEMPTED, 1, 1}, /* waits while the other CPU idles */
	{TP_RUN_BLOCKED, 1, 2},   /* needs no other CPU */
	{TP_RUN_PREEMPTED, 0, 2}, /* may use both */
};

START_TEST(a_thread_that_waits_despite_an_idle_cpu_may_not_use_it)
{
	struct hand hand;
	busy_machine(&hand);
	for (int i = 0; i < 6600; i++) {
		struct tp_run run = {.task = 0,
				     .start_ns = 1 + (uint64_t)i * 1500000,
				     .how = masks[_i].how,
				     .cpu = i % 2 ? 1 : masks[_i].first_cpu};
		run.end_ns = run.start_ns + 1000000;
		tp_sink_run(&hand.builder.sink, &run);
	}
	hand_finish(&hand);
	hand_pass(&hand, tp_pass_cpu);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_CPU_ALLOWED), masks[_i].allowed, 1e-9);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_CPU_IDLE),
				masks[_i].allowed > 1 ? 0.39 : 0, 1e-6);
	hand_release(&hand);
}
END_TEST

Suite *suite_analyze_pass_cpu(void);
Suite *suite_analyze_pass_cpu(void)
{
	Suite *suite = suite_create("analyze/pass_cpu");
	TCase *tc = tcase_create("cpu");
	tcase_add_test(tc, cpus_are_shared_out_without_rest);
	tcase_add_loop_test(tc, who_yields_takes_no_cpu, 0, 3);
	tcase_add_test(tc, waiting_for_a_cpu_is_measured_over_the_trainer);
	tcase_add_test(tc, the_mask_of_the_trainer_bounds_what_is_allowed_and_what_idles);
	tcase_add_test(tc, a_quota_bounds_what_is_allowed_and_what_idles);
	tcase_add_test(tc, without_a_quota_throttling_is_known_to_be_zero);
	tcase_add_test(tc, switches_are_counted_inside_the_window);
	tcase_add_test(tc, switches_are_counted_up_where_they_were_not_recorded);
	tcase_add_test(tc, without_readings_every_fact_has_its_reason);
	tcase_add_test(tc, runs_stand_in_for_threads_that_were_never_read);
	tcase_add_loop_test(tc, a_thread_that_waits_despite_an_idle_cpu_may_not_use_it, 0,
			    sizeof(masks) / sizeof(masks[0]));
	suite_add_tcase(suite, tc);
	return suite;
}
