/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of how far a measurement can be trusted. */
#include "analyze/hand.h"

#include "trainprof/model/fact.h"

static bool has_warning(const struct hand *hand, const char *id)
{
	for (size_t i = 0; i < hand->profile.n_warnings; i++)
		if (strcmp(hand->profile.warnings[i].id, id) == 0)
			return true;
	return false;
}

static void judge(struct hand *hand)
{
	hand_finish(hand);
	if (hand->analysis.main_task != TP_NO_TASK) {
		struct tp_timeline *timeline = &hand->analysis.timelines[0];
		for (size_t i = 0; i < timeline->n; i++)
			timeline->segments[i].label = TP_LABEL_COMPUTE_MATH;
	}
	hand_pass(hand, tp_pass_quality);
	hand_pass(hand, tp_pass_warnings);
}

/* The trainer is on a CPU all ten seconds, with a sample every hundredth of a second. */
static void put_busy_trainer(struct hand *hand, uint32_t stack)
{
	hand_init(hand);
	hand_task(hand, 0, 100, 100, "/bin/train");
	hand_counter(hand, TP_METRIC_PROC_UTIME, 0, 0.8e9);
	hand_counter(hand, TP_METRIC_PROC_STIME, 0, 0.2e9);
	hand_run(hand, 0, 0, 10, TP_RUN_EXITED);
	struct tp_sample sample = {.state = TP_STATE_ON_CPU, .stack = stack, .syscall = -1};
	for (int i = 0; i < 1000; i++)
		hand_sample(hand, &sample, 0.005 + i * 0.01);
}

START_TEST(overhead_is_our_time_and_what_the_target_lost)
{
	struct hand hand;
	put_busy_trainer(&hand, 0);
	hand_counter(&hand, TP_METRIC_SELF_CPU, TP_NO_TASK, 5e6);
	hand_counter(&hand, TP_METRIC_SELF_SAMPLES, TP_NO_TASK, 100);
	hand_counter(&hand, TP_METRIC_SELF_SWITCHES, TP_NO_TASK, 1000);
	hand_gauge(&hand, TP_METRIC_SELF_SAMPLE_COST, TP_NO_TASK, 0, 14000);
	hand_gauge(&hand, TP_METRIC_SELF_SWITCH_COST, TP_NO_TASK, 0, 800);
	judge(&hand);
	/* 5 ms + 1.4 ms + 0.8 ms per second of the program. */
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_RUN_OVERHEAD_RATIO), 0.0072, 1e-6);
	hand_release(&hand);
}
END_TEST

START_TEST(losses_are_counted_once_and_said)
{
	struct hand hand;
	put_busy_trainer(&hand, 0);
	hand_source(&hand, "perf", TP_PRESENCE_PRESENT, "", 9000, 1000);
	tp_sink_gap(&hand.builder.sink, "perf", "ring full", SECOND, 2 * SECOND, 1000);
	judge(&hand);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_RUN_RECORDS_LOST_RATIO), 0.1, 1e-9);
	ck_assert(has_warning(&hand, "records-lost"));
	ck_assert(!has_warning(&hand, "perf-off"));
	hand_release(&hand);
}
END_TEST

START_TEST(whole_stacks_and_accounted_time_are_shares)
{
	struct hand hand;
	hand_init(&hand);
	uint32_t whole = hand_stack(&hand, "/bin/train", "main", "/bin/train", "f", 0);
	uint32_t cut = hand_stack(&hand, "/bin/train", "g", "/bin/train", "h", TP_STACK_TRUNCATED);
	hand_task(&hand, 0, 100, 100, "/bin/train");
	hand_counter(&hand, TP_METRIC_PROC_UTIME, 0, 1e9);
	hand_counter(&hand, TP_METRIC_PROC_STIME, 0, 0);
	/* A fifth of the CPU time was lost: the kernel counted 10 s, the runs contain 8. */
	for (int i = 0; i < 10; i++) {
		hand_run(&hand, 0, i, i + 0.8, TP_RUN_BLOCKED);
		struct tp_sample sample = {.state = TP_STATE_ON_CPU};
		sample.stack = i % 5 ? whole : cut;
		hand_sample(&hand, &sample, i + 0.4);
	}
	judge(&hand);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_RUN_COMPLETE_STACKS_RATIO), 0.8, 1e-9);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_RUN_ACCOUNTED_RATIO), 0.8, 1e-6);
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_RUN_N_SAMPLES), 6);
	ck_assert(has_warning(&hand, "few-samples"));
	hand_release(&hand);
}
END_TEST

START_TEST(time_without_any_sample_is_unknown)
{
	struct hand hand;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/bin/train");
	hand_run(&hand, 0, 0, 5, TP_RUN_PREEMPTED);
	hand_run(&hand, 0, 6, 10, TP_RUN_EXITED);
	judge(&hand);
	/* Seconds 5 to 6 wait for a CPU, which needs no sample; the other five of six are
	 * unknown. */
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_RUN_UNKNOWN_RATIO), 5.0 / 6, 1e-6);
	hand_release(&hand);
}
END_TEST

START_TEST(stacks_switched_off_are_said_with_the_remedy)
{
	struct hand hand;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/bin/train");
	struct tp_availability denied = {.presence = TP_PRESENCE_NO_PERMISSION};
	strcpy(denied.reason, "perf_event_paranoid is 4");
	strcpy(denied.remedy, "sysctl kernel.perf_event_paranoid=2");
	tp_sink_source(&hand.builder.sink, "perf", "", &denied, 0, 0);
	judge(&hand);
	ck_assert(has_warning(&hand, "perf-off"));
	ck_assert_str_eq(hand.profile.warnings[0].text,
			 "running threads were not sampled: perf_event_paranoid is 4");
	ck_assert_str_eq(hand.profile.warnings[0].remedy, denied.remedy);
	ck_assert_str_eq(hand_missing(&hand, TP_FACT_RUN_COMPLETE_STACKS_RATIO), denied.reason);
	(void)hand_missing(&hand, TP_FACT_RUN_ACCOUNTED_RATIO);
	(void)hand_missing(&hand, TP_FACT_RUN_OVERHEAD_RATIO);
	hand_release(&hand);
}
END_TEST

/* The governor has three ways to save: each has its figure and its sentence. */
START_TEST(detail_that_was_given_up_is_counted_and_said)
{
	static const char off[] = TP_GAP_SWITCHES_OFF " above 20000/s per CPU";
	struct hand hand;
	put_busy_trainer(&hand, 0);
	hand.run.sample_rate_hz = 49.5;
	hand.run.asked_rate_hz = 99;
	struct tp_sample thinned = {.state = TP_STATE_ON_CPU,
				    .flags = TP_SAMPLE_LEAF_ONLY,
				    .syscall = -1};
	for (int i = 0; i < 250; i++)
		hand_sample(&hand, &thinned, 0.007 + i * 0.01);
	struct tp_sample polled = {.state = TP_STATE_ON_CPU,
				   .flags = TP_SAMPLE_POLLED,
				   .syscall = -1};
	hand_sample(&hand, &polled, 9.999);
	struct tp_sink *sink = &hand.builder.sink;
	tp_sink_gap(sink, "perf", off, 2 * SECOND, 4 * SECOND, 0);
	tp_sink_gap(sink, "perf", off, 9 * SECOND, UINT64_MAX, 0);
	tp_sink_gap(sink, "perf", "the kernel throttled sampling", SECOND, 2 * SECOND, 0);
	judge(&hand);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_RUN_SWITCHES_OFF_RATIO), 0.3, 1e-6);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_RUN_THINNED_RATIO), 0.2, 1e-9);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_RUN_RATE_RATIO), 0.5, 1e-9);
	ck_assert(has_warning(&hand, "switches-off"));
	ck_assert(has_warning(&hand, "stacks-thinned"));
	ck_assert(has_warning(&hand, "rate-lowered"));
	hand_release(&hand);
}
END_TEST

START_TEST(full_detail_is_no_warning)
{
	struct hand hand;
	put_busy_trainer(&hand, 0);
	hand.run.sample_rate_hz = 99.00000099;
	hand.run.asked_rate_hz = 99;
	judge(&hand);
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_RUN_SWITCHES_OFF_RATIO), 0);
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_RUN_THINNED_RATIO), 0);
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_RUN_RATE_RATIO), 1);
	ck_assert(!has_warning(&hand, "switches-off"));
	ck_assert(!has_warning(&hand, "stacks-thinned"));
	ck_assert(!has_warning(&hand, "rate-lowered"));
	hand_release(&hand);
}
END_TEST

START_TEST(an_empty_recording_is_survived)
{
	struct hand hand;
	hand_init(&hand);
	judge(&hand);
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_RUN_N_SAMPLES), 0);
	ck_assert_str_eq(hand_missing(&hand, TP_FACT_RUN_UNKNOWN_RATIO), "there is no trainer");
	hand_pass(&hand, tp_pass_cpu);
	hand_pass(&hand, tp_pass_compute);
	hand_pass(&hand, tp_pass_communication);
	hand_pass(&hand, tp_pass_memory);
	hand_pass(&hand, tp_pass_io);
	hand_pass(&hand, tp_pass_environment);
	hand_pass(&hand, tp_pass_steps);
	hand_pass(&hand, tp_pass_steady);
	ck_assert_int_eq(hand.profile.steps_found_by, TP_STEPS_NONE);
	hand_release(&hand);
}
END_TEST

/* 0.4 s before the program began and 0.2 s in its first second, then 10 ms per second. */
START_TEST(starting_and_running_cost_are_apart)
{
	struct hand hand;
	put_busy_trainer(&hand, 0);
	for (int s = 0; s <= 10; s++)
		hand_gauge(&hand, TP_METRIC_SELF_CPU, TP_NO_TASK, s,
			   s ? 0.6e9 + (s - 1) * 10e6 : 0.4e9);
	hand_finish(&hand);
	tp_profile_set(&hand.profile, TP_FACT_CPU_ALLOWED, 2, TP_ORIGIN_MEASURED, 1);
	hand_pass(&hand, tp_pass_quality);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_RUN_OVERHEAD_TIME), 0.69e9, 1);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_RUN_OVERHEAD_STARTUP), 0.59e9, 1e3);
	/* Relative to ten seconds on two CPUs. */
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_RUN_OVERHEAD_RUNNING), 0.005, 1e-6);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_RUN_OVERHEAD_RATIO), 0.29 / 20, 1e-6);
	hand_release(&hand);
}
END_TEST

START_TEST(a_program_that_sleeps_is_not_held_against_its_own_cpu_time)
{
	struct hand hand;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/bin/sleep");
	hand_counter(&hand, TP_METRIC_PROC_UTIME, 0, 1e5);
	hand_run(&hand, 0, 0, 0.001, TP_RUN_BLOCKED);
	hand_gauge(&hand, TP_METRIC_SELF_CPU, TP_NO_TASK, 0, 10e6);
	hand_gauge(&hand, TP_METRIC_SELF_CPU, TP_NO_TASK, 10, 30e6);
	judge(&hand);
	ck_assert_double_lt(hand_fact(&hand, TP_FACT_RUN_OVERHEAD_RATIO), 0.01);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_RUN_OVERHEAD_TIME), 30e6, 1);
	ck_assert_str_eq(hand_missing(&hand, TP_FACT_RUN_OVERHEAD_STARTUP),
			 "the run was too short to distinguish it");
	hand_release(&hand);
}
END_TEST

START_TEST(stops_are_said_and_are_facts)
{
	struct hand hand;
	put_busy_trainer(&hand, 0);
	tp_sink_gap(&hand.builder.sink, TP_STOP_SOURCE, "stopped by a signal, process 100",
		    4 * SECOND, 6 * SECOND, 0);
	tp_sink_gap(&hand.builder.sink, TP_STOP_SOURCE, "trainprof itself stood still", 8 * SECOND,
		    9 * SECOND, 0);
	judge(&hand);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_RUN_STOPPED), 2e9, 1);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_RUN_UNWATCHED), 1e9, 1);
	ck_assert(has_warning(&hand, "stopped"));
	hand_release(&hand);
}
END_TEST

Suite *suite_analyze_pass_quality(void);
Suite *suite_analyze_pass_quality(void)
{
	Suite *suite = suite_create("analyze/pass_quality");
	TCase *tc = tcase_create("quality");
	tcase_add_test(tc, a_program_that_sleeps_is_not_held_against_its_own_cpu_time);
	tcase_add_test(tc, stops_are_said_and_are_facts);
	tcase_add_test(tc, starting_and_running_cost_are_apart);
	tcase_add_test(tc, overhead_is_our_time_and_what_the_target_lost);
	tcase_add_test(tc, losses_are_counted_once_and_said);
	tcase_add_test(tc, whole_stacks_and_accounted_time_are_shares);
	tcase_add_test(tc, time_without_any_sample_is_unknown);
	tcase_add_test(tc, stacks_switched_off_are_said_with_the_remedy);
	tcase_add_test(tc, detail_that_was_given_up_is_counted_and_said);
	tcase_add_test(tc, full_detail_is_no_warning);
	tcase_add_test(tc, an_empty_recording_is_survived);
	suite_add_tcase(suite, tc);
	return suite;
}
