/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the settings of the training loop's loader. */
#include "analyze/hand.h"

#include "trainprof/model/fact.h"

static struct hand hand;

static void begin(void)
{
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/usr/bin/python3");
	hand_task(&hand, 1, 200, 200, "/usr/bin/python3");
}

static void set(const char *name, double at_s, uint64_t value)
{
	struct tp_sink *sink = &hand.builder.sink;
	tp_sink_mark(sink, &(struct tp_mark){.kind = TP_MARK_SETTING,
					     .task = 0,
					     .time_ns = 1 + (uint64_t)(at_s * 1e9),
					     .name = tp_sink_string(sink, name),
					     .value = value});
}

static double step_ns; /* 0 = no steps were found */

static void judge(double processes, double workers)
{
	hand_finish(&hand);
	hand.analysis.roles[0] = TP_ROLE_TRAINER;
	hand.analysis.roles[1] = TP_ROLE_LOADER;
	hand.analysis.threads[0].leader = 0;
	hand.analysis.threads[1].leader = 1;
	hand.profile.total_ns = 6 * SECOND;
	tp_profile_set(&hand.profile, TP_FACT_LOADER_PROCESSES, processes, TP_ORIGIN_DERIVED, 1);
	tp_profile_set(&hand.profile, TP_FACT_LOADER_WORKERS, workers, TP_ORIGIN_DERIVED, 1);
	if (step_ns > 0)
		tp_profile_set(&hand.profile, TP_FACT_STEP_TIME, step_ns, TP_ORIGIN_MEASURED, 1);
	hand_pass(&hand, tp_pass_loader_settings);
}

START_TEST(settings_become_facts)
{
	begin();
	set("loader.workers", 1, 2);
	set("loader.prefetch_factor", 1, 3);
	set("loader.batch_size", 1, 64);
	set("loader.persistent_workers", 1, 0);
	set("loader.pin_memory", 1, 1);
	judge(2, 1.6);
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_LOADER_WORKERS), 2);
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_LOADER_PREFETCH), 3);
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_LOADER_BATCH_SIZE), 64);
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_LOADER_PERSISTENT), 0);
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_LOADER_PIN), 1);
	hand_release(&hand);
}
END_TEST

START_TEST(samples_per_second_need_steps_and_a_batch_size)
{
	begin();
	set("loader.workers", 1, 2);
	set("loader.batch_size", 1, 64);
	step_ns = 20e6;
	judge(2, 2);
	step_ns = 0;
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_STEP_SAMPLES_PER_S), 3200, 1e-6);
	hand_release(&hand);
	begin();
	set("loader.workers", 1, 2);
	set("loader.batch_size", 1, 64);
	judge(2, 2);
	ck_assert(!hand.profile.facts[TP_FACT_STEP_SAMPLES_PER_S].is_known);
	hand_release(&hand);
}
END_TEST

START_TEST(the_loader_that_is_used_for_longest_counts)
{
	begin();
	set("loader.batch_size", 1, 256); /* a first look at the data */
	set("loader.batch_size", 2, 32);
	set("loader.batch_size", 4, 128); /* validation */
	set("loader.batch_size", 5, 32);
	set("loader.batch_size", 7, 128);
	judge(0, 0);
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_LOADER_BATCH_SIZE), 32);
	hand_release(&hand);
}
END_TEST

START_TEST(unobserved_settings_are_unknown)
{
	begin();
	set("loader.workers", 1, 0);
	set("loader.prefetch_factor", 1, 2);
	set("loader.batch_size", 1, UINT64_MAX);
	judge(0, 1);
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_LOADER_WORKERS), 0);
	ck_assert_str_eq(hand_missing(&hand, TP_FACT_LOADER_PREFETCH), "the loader has no workers");
	ck_assert_str_eq(hand_missing(&hand, TP_FACT_LOADER_BATCH_SIZE),
			 "the loader has no such setting");
	hand_release(&hand);
}
END_TEST

START_TEST(without_a_loader_nothing_changes)
{
	begin();
	judge(1, 1.4);
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_LOADER_WORKERS), 1.4);
	ck_assert_ptr_nonnull(strstr(hand_missing(&hand, TP_FACT_LOADER_PIN), "no loader"));
	hand_release(&hand);
}
END_TEST

START_TEST(a_loader_without_workers_does_not_own_worker_processes)
{
	begin();
	set("loader.workers", 1, 0);
	judge(2, 2);
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_LOADER_WORKERS), 2);
	hand_release(&hand);
}
END_TEST

Suite *suite_analyze_pass_loader_settings(void);
Suite *suite_analyze_pass_loader_settings(void)
{
	Suite *suite = suite_create("analyze/passloadersettings");
	TCase *tc = tcase_create("passloadersettings");
	tcase_add_test(tc, settings_become_facts);
	tcase_add_test(tc, samples_per_second_need_steps_and_a_batch_size);
	tcase_add_test(tc, the_loader_that_is_used_for_longest_counts);
	tcase_add_test(tc, unobserved_settings_are_unknown);
	tcase_add_test(tc, without_a_loader_nothing_changes);
	tcase_add_test(tc, a_loader_without_workers_does_not_own_worker_processes);
	suite_add_tcase(suite, tc);
	return suite;
}
