/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of windows of hardware counters, on simulated trainers that mark their steps. */
#include "analyze/sim.h"
#include "analyze/steady/counter_windows.h"

#include "trainprof/model/fact.h"

enum { STEPS = 200 };

static struct sim sim;

static void teardown(void)
{
	sim_release(&sim);
}

static void open_window(uint32_t track, bool is_open)
{
	tp_sink_gauge(&sim.builder.sink, TP_METRIC_GPU_PM_OPEN, track, 1 + sim.now_ns, is_open);
}

static void judge(void)
{
	struct tp_error err;
	sim_mark(&sim, 0, TP_MARK_STEP_END);
	sim_work(&sim, "main:9 finish:1", 30000000);
	sim_finish(&sim);
	ck_assert_int_eq(tp_pass_steps(&sim.analysis, &err), TP_OK);
	ck_assert_int_eq(tp_pass_steady(&sim.analysis, &err), TP_OK);
	tp_counter_windows_set_facts(&sim.analysis, "nobody read them");
}

/* Steps of 10 ms, or `slow` ms in windows: those whose number modulo 40 is below `counted`. */
static void simulate(unsigned counted, double slow)
{
	sim_init(&sim, 99, 50, 3);
	tp_sink_track(&sim.builder.sink,
		      &(struct tp_track){.id = 0, .device = 0, .number = TP_TRACK_WHOLE});
	sim_work(&sim, "main:0 setup:1", 100000000);
	for (unsigned i = 0; i < STEPS; i++) {
		bool is_inside = i >= 40 && i % 40 < counted;
		sim_mark(&sim, 0, TP_MARK_STEP);
		if (counted && i >= 40 && i % 40 == 0)
			open_window(0, true);
		sim_work(&sim, "main:1 train:2 forward:3",
			 (uint64_t)((is_inside ? slow : 10) * 1e6) + i % 7 * 10000);
		if (counted && i >= 40 && i % 40 == counted - 1)
			open_window(0, false);
	}
	judge();
}

START_TEST(steps_in_windows_are_marked_and_not_judged)
{
	simulate(4, 13);
	ck_assert_uint_eq(sim_count_steps(&sim, TP_STEP_COUNTED), 4 * 4);
	for (size_t i = 40; i < STEPS; i++)
		ck_assert_int_eq(sim.profile.steps[i].kind == TP_STEP_COUNTED, i % 40 < 4);
	/* The steps outside represent the run, as if there were no windows. */
	ck_assert_double_eq_tol(sim.profile.step_time.mean, 10.03e6, 0.1e6);
	const struct tp_quantity *change = &sim.profile.facts[TP_FACT_GPU_COUNTED_STEP];
	ck_assert(change->is_known);
	ck_assert_double_eq_tol(change->value, 0.3, 0.01);
	const struct tp_quantity *share = &sim.profile.facts[TP_FACT_GPU_COUNTED];
	ck_assert(share->is_known);
	ck_assert_double_gt(share->value, 0.07);
	ck_assert_double_lt(share->value, 0.15);
	ck_assert_uint_eq(sim.profile.n_warnings, 1);
	ck_assert_str_eq(sim.profile.warnings[0].id, "gpu-counters");
	ck_assert_ptr_nonnull(strstr(sim.profile.warnings[0].effect, "not judged"));
	ck_assert_ptr_nonnull(strstr(sim.profile.window_reason, "counted"));
}
END_TEST

/* The evaluation takes as long as eighty steps, so that each evaluation touches a window. */
START_TEST(an_evaluation_in_a_window_stays_one)
{
	sim_init(&sim, 99, 50, 3);
	tp_sink_track(&sim.builder.sink,
		      &(struct tp_track){.id = 0, .device = 0, .number = TP_TRACK_WHOLE});
	for (unsigned i = 0; i < STEPS; i++) {
		sim_mark(&sim, 0, TP_MARK_STEP);
		sim_work(&sim, "main:1 train:2 forward:3", 10000000 + i % 7 * 10000);
		if (i % 40 != 39)
			continue;
		open_window(0, true);
		sim_work(&sim, "main:1 train:5 evaluate:2 forward:3", 800000000);
		open_window(0, false);
	}
	judge();
	ck_assert_uint_eq(sim_count_steps(&sim, TP_STEP_EVALUATION), STEPS / 40);
	ck_assert_uint_eq(sim.profile.run_phase_ns[TP_RUN_PHASE_EVAL] / 100000000, STEPS / 40 * 8);
}
END_TEST

START_TEST(if_windows_touch_most_steps_all_are_judged)
{
	simulate(30, 10);
	ck_assert_uint_eq(sim_count_steps(&sim, TP_STEP_COUNTED), 0);
	ck_assert(sim.profile.facts[TP_FACT_GPU_COUNTED].is_known);
	ck_assert(!sim.profile.facts[TP_FACT_GPU_COUNTED_STEP].is_known);
	ck_assert_uint_eq(sim.profile.n_warnings, 1);
	ck_assert_ptr_null(strstr(sim.profile.warnings[0].effect, "not judged"));
}
END_TEST

START_TEST(without_windows_nothing_is_said)
{
	simulate(0, 10);
	ck_assert_uint_eq(sim_count_steps(&sim, TP_STEP_COUNTED), 0);
	ck_assert(!sim.profile.facts[TP_FACT_GPU_COUNTED].is_known);
	ck_assert_str_eq(sim.profile.facts[TP_FACT_GPU_COUNTED].missing, "nobody read them");
	ck_assert_uint_eq(sim.profile.n_warnings, 0);
}
END_TEST

START_TEST(windows_of_two_gpus_are_united_and_the_last_one_ends_with_the_run)
{
	sim_init(&sim, 99, 50, 3);
	for (uint32_t i = 0; i < 2; i++)
		tp_sink_track(&sim.builder.sink, &(struct tp_track){.id = i,
								    .device = (int32_t)i,
								    .number = TP_TRACK_WHOLE});
	open_window(0, true);
	sim_work(&sim, "main:1", 10000000);
	open_window(1, true);
	sim_work(&sim, "main:1", 10000000);
	open_window(0, false);
	sim_work(&sim, "main:1", 10000000);
	open_window(1, false);
	sim_work(&sim, "main:1", 10000000);
	open_window(1, true);
	sim_work(&sim, "main:1", 10000000);
	sim_finish(&sim);
	sim.profile.window_end_ns = 50000000;
	tp_counter_windows_set_facts(&sim.analysis, "nobody read them");
	ck_assert_double_eq_tol(sim.profile.facts[TP_FACT_GPU_COUNTED].value, 0.8, 1e-6);
	ck_assert(!sim.profile.facts[TP_FACT_GPU_COUNTED_STEP].is_known);
}
END_TEST

Suite *suite_analyze_counter_windows(void);
Suite *suite_analyze_counter_windows(void)
{
	Suite *suite = suite_create("analyze/counterwindows");
	TCase *tc = tcase_create("counterwindows");
	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, steps_in_windows_are_marked_and_not_judged);
	tcase_add_test(tc, an_evaluation_in_a_window_stays_one);
	tcase_add_test(tc, if_windows_touch_most_steps_all_are_judged);
	tcase_add_test(tc, without_windows_nothing_is_said);
	tcase_add_test(tc, windows_of_two_gpus_are_united_and_the_last_one_ends_with_the_run);
	suite_add_tcase(suite, tc);
	return suite;
}
