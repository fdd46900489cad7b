/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of how the steps of a program with devices are found. */
#include "analyze/livescene.h"

#include "trainprof/model/fact.h"

static struct live live;

static void setup(void)
{
	live_init(&live);
}

static void teardown(void)
{
	scene_release(&live.scene);
}

static const struct tp_profile *judge(void)
{
	scene_judge(&live.scene);
	return &live.scene.profile;
}

static void name_steps(void)
{
	for (unsigned i = 0; i < LIVE_STEPS; i++) {
		char name[32];
		snprintf(name, sizeof(name), "step %u", i);
		scene_span(&live.scene, live.thread, TP_SPAN_ANNOTATION, name, live_at(i, 0),
			   live_at(i + 1, 0));
	}
}

START_TEST(the_programs_own_marks_come_first)
{
	live_fill(&live, 1);
	name_steps();
	const struct tp_profile *p = judge();
	ck_assert_int_eq(p->steps_found_by, TP_STEPS_MARKER);
	ck_assert_str_eq(p->steps_reason, "marked by the program");
}
END_TEST

START_TEST(ranges_that_are_called_steps_are_steps)
{
	live_fill(&live, 0);
	name_steps();
	const struct tp_profile *p = judge();
	ck_assert_int_eq(p->steps_found_by, TP_STEPS_MARKER);
	ck_assert_str_eq(p->steps_reason, "marked by the program's NVTX ranges");
	ck_assert_uint_ge(p->n_steady, 10);
	ck_assert_double_eq_tol(p->step_time.mean, 100 * 1e6, 1);
}
END_TEST

/* Here no function that loops is known, and there are no marks: launches repeat. */
START_TEST(without_marks_and_stacks_launches_give_the_steps)
{
	live_run(&live, live_at(0, 0), live_at(LIVE_STEPS, 0));
	for (unsigned i = 0; i < LIVE_STEPS; i++) {
		scene_op(&live.scene, live.thread, live_at(i, 10), live.stream, TP_SPAN_COPY,
			 SCENE_H2D, live_at(i, 11), live_at(i, 12));
		scene_op(&live.scene, live.thread, live_at(i, 20), live.stream, TP_SPAN_KERNEL,
			 SCENE_GEMM, live_at(i, 21), live_at(i, 60));
		scene_op(&live.scene, live.thread, live_at(i, 61), live.stream, TP_SPAN_KERNEL,
			 SCENE_ADAM, live_at(i, 62), live_at(i, 70));
	}
	const struct tp_profile *p = judge();
	ck_assert_int_eq(p->steps_found_by, TP_STEPS_PERIOD);
	ck_assert_ptr_nonnull(strstr(p->steps_reason, "in the order of launches"));
	ck_assert_uint_ge(p->n_steady, 8);
	ck_assert_double_eq_tol(p->step_time.mean, 100 * 1e6, 1);
	ck_assert_double_eq_tol(p->facts[TP_FACT_DEVICE_BUSY].value, 0.48, 1e-6);
}
END_TEST

START_TEST(without_steps_all_device_work_is_one_window)
{
	live_run(&live, live_at(0, 0), live_at(LIVE_STEPS, 0));
	live.scene.options.steps = TP_STEPS_OFF;
	live_device(&live, 0);
	live_device(&live, 1);
	const struct tp_profile *p = judge();
	ck_assert(!p->is_of_steps);
	/* From 40 of the first step to 90 of the second. */
	ck_assert_uint_eq(p->total_ns, 150 * MS);
	ck_assert_uint_eq(p->parts[TP_PART_COMPUTE].time_ns, 100 * MS);
}
END_TEST

START_TEST(untraced_time_is_not_idle)
{
	struct tp_sink *sink = &live.scene.builder.sink;
	live_run(&live, live_at(0, 0), live_at(LIVE_STEPS, 0));
	live.scene.options.steps = TP_STEPS_OFF;
	live_device(&live, 0);
	live_device(&live, 9);
	tp_sink_gap(sink, "perf", "another source's", live_at(0, 50), live_at(0, 60), 0);
	tp_sink_gap(sink, "cupti", "not traced", live_at(0, 95), live_at(9, 5), 0);
	const struct tp_profile *p = judge();
	/* From 40 to 95 of the first step, from 5 to 90 of the last. */
	ck_assert_uint_eq(p->total_ns, 140 * MS);
	ck_assert_uint_eq(p->devices[0].span_ns, 140 * MS);
	for (int i = 0; i < TP_N_GAP_CAUSES; i++)
		ck_assert_uint_eq(p->devices[0].gap_ns[i], 0);
	ck_assert_uint_eq(p->parts[TP_PART_COMPUTE].time_ns, 100 * MS);
}
END_TEST

START_TEST(a_program_without_device_work_is_judged_as_ever)
{
	live_run(&live, live_at(0, 0), live_at(0, 60));
	for (unsigned i = 0; i < LIVE_STEPS; i++) {
		live_mark(&live, i);
		live_thread(&live, i);
	}
	const struct tp_profile *p = judge();
	ck_assert_uint_eq(p->n_devices, 0);
	ck_assert_uint_eq(p->n_warnings ? strcmp(p->warnings[0].id, "devices-not-judged") != 0 : 1,
			  1);
	ck_assert(p->facts[TP_FACT_DEVICE_BUSY].is_foreign);
	ck_assert(!p->facts[TP_FACT_COMPUTE_THREADS].is_foreign);
}
END_TEST

Suite *suite_analyze_pass_launches(void);
Suite *suite_analyze_pass_launches(void)
{
	Suite *suite = suite_create("analyze/pass_launches");
	TCase *tc = tcase_create("launches");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, the_programs_own_marks_come_first);
	tcase_add_test(tc, ranges_that_are_called_steps_are_steps);
	tcase_add_test(tc, without_marks_and_stacks_launches_give_the_steps);
	tcase_add_test(tc, without_steps_all_device_work_is_one_window);
	tcase_add_test(tc, untraced_time_is_not_idle);
	tcase_add_test(tc, a_program_without_device_work_is_judged_as_ever);
	suite_add_tcase(suite, tc);
	return suite;
}
