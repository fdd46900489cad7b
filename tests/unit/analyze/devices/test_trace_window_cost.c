/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the slowdown of a program by windows of GPU tracing, from the steps around them. */
#include "analyze/windowscene.h"

#include "trainprof/model/fact.h"

static struct windows scene;

static void teardown(void)
{
	scene_release(&scene.live.scene);
}

static double known(enum tp_fact fact)
{
	return windows_known(&scene, fact);
}

/* Windows of eight steps, one every sixty: five windows in 300 steps. */
static const struct {
	unsigned traced_ms;
	unsigned open_ms;
} slowdowns[] = {{100, 0}, {110, 0}, {180, 0}, {280, 0}, {280, 150}, {100, 150}};

START_TEST(slowdown_and_cost_are_those_of_the_steps)
{
	scene = (struct windows){.n_steps = 300,
				 .first = 30,
				 .each = 60,
				 .length = 8,
				 .step_ms = 100,
				 .traced_ms = slowdowns[_i].traced_ms,
				 .open_ms = slowdowns[_i].open_ms,
				 .busy_ms = 50};
	windows_fill(&scene);
	windows_judge(&scene);
	/* Steps of windows are steady, however slow. One in which the program paused is special:
	 * seven are left. The first step of all windows begins before the first event: it is not
	 * known to be traced. */
	const struct tp_profile *p = &scene.live.scene.profile;
	ck_assert_uint_ge(p->n_steady, 5u * 7 - 1);
	ck_assert_uint_le(p->n_steady, 5u * 8);
	double run_ns = (double)(scene.end_ns - BEGIN);
	double lost_ns = 5.0 * (8.0 * (slowdowns[_i].traced_ms - 100) + slowdowns[_i].open_ms) * MS;
	double slowdown = slowdowns[_i].traced_ms / 100.0 - 1;
	ck_assert_double_eq_tol(known(TP_FACT_WINDOWS_COUNT), 5, 1e-9);
	ck_assert_double_eq_tol(known(TP_FACT_WINDOWS_COST), lost_ns / run_ns, 1e-4);
	ck_assert_double_eq_tol(known(TP_FACT_WINDOWS_SLOWDOWN), slowdown, 0.01);
	double traced_ns = 5.0 * (8.0 * slowdowns[_i].traced_ms + slowdowns[_i].open_ms) * MS;
	ck_assert_double_eq_tol(known(TP_FACT_WINDOWS_TRACED), traced_ns / run_ns, 0.001);
	const struct tp_quantity *cost = windows_fact(&scene, TP_FACT_WINDOWS_COST);
	ck_assert(cost->has_interval && cost->low <= cost->value && cost->value <= cost->high);
	ck_assert_uint_eq(cost->n, 5);
}
END_TEST

/* The device works 50, 55, 60, 65 and 70 ms of each 100: the five windows have a standard deviation
 * of 0.0791; divided by sqrt(5), times the quantile of Student's t for four degrees of freedom. */
START_TEST(shares_are_as_sure_as_windows_are_alike)
{
	scene = (struct windows){.n_steps = 300,
				 .first = 30,
				 .each = 60,
				 .length = 8,
				 .step_ms = 100,
				 .traced_ms = 100,
				 .busy_ms = 50,
				 .more_ms = 5};
	windows_fill(&scene);
	windows_judge(&scene);
	const struct tp_quantity *share = &scene.live.scene.profile.parts[TP_PART_COMPUTE].share;
	ck_assert(share->has_interval);
	ck_assert_double_eq_tol(share->value, 0.60, 0.01);
	ck_assert_double_eq_tol((share->high - share->low) / 2, 2.776 * 0.0791 / 2.236, 0.01);
	ck_assert_ptr_null(windows_warning(&scene, "one-window"));
}
END_TEST

START_TEST(a_single_window_says_that_it_is_one)
{
	scene = (struct windows){.n_steps = 100,
				 .first = 40,
				 .length = 20,
				 .step_ms = 100,
				 .traced_ms = 120,
				 .busy_ms = 50};
	windows_fill(&scene);
	windows_judge(&scene);
	ck_assert_double_eq_tol(known(TP_FACT_WINDOWS_COUNT), 1, 1e-9);
	ck_assert_double_eq_tol(known(TP_FACT_WINDOWS_SLOWDOWN), 0.2, 0.01);
	ck_assert(scene.live.scene.profile.parts[TP_PART_COMPUTE].share.has_interval);
	ck_assert_str_eq(windows_warning(&scene, "one-window"),
			 "the parts are of steps in a single window of GPU tracing");
}
END_TEST

START_TEST(a_window_without_adjacent_steps_shows_no_cost)
{
	scene = (struct windows){.n_steps = 60,
				 .first = 1,
				 .length = 59,
				 .step_ms = 100,
				 .traced_ms = 100,
				 .busy_ms = 50};
	windows_fill(&scene);
	windows_gap(&scene, scene.end_ns - 50 * MS, scene.end_ns);
	windows_judge(&scene);
	const struct tp_quantity *cost = windows_fact(&scene, TP_FACT_WINDOWS_COST);
	ck_assert(!cost->is_known);
	ck_assert_str_eq(cost->missing, "no window has steps on both sides");
}
END_TEST

/* Steps are longer until the first window is over; one of seven is longer still, and classified as
 * slow. */
START_TEST(a_window_in_warm_up_shows_no_cost)
{
	scene = (struct windows){.n_steps = 300,
				 .first = 40,
				 .each = 100,
				 .length = 20,
				 .step_ms = 100,
				 .traced_ms = 120,
				 .warm_steps = 60,
				 .warm_ms = 12,
				 .busy_ms = 50};
	windows_fill(&scene);
	windows_judge(&scene);
	ck_assert_double_eq_tol(known(TP_FACT_WINDOWS_COUNT), 3, 1e-9);
	const struct tp_quantity *cost = windows_fact(&scene, TP_FACT_WINDOWS_COST);
	ck_assert(cost->is_known);
	ck_assert_double_eq_tol(cost->coverage, 2.0 / 3, 1e-9);
	ck_assert_double_eq_tol(cost->value, 3 * 20 * 20.0 * MS / (double)(scene.end_ns - BEGIN),
				1e-3);
}
END_TEST

START_TEST(continuous_tracing_has_no_windows)
{
	live_init(&scene.live);
	live_fill(&scene.live, 1);
	windows_judge(&scene);
	const struct tp_quantity *cost = windows_fact(&scene, TP_FACT_WINDOWS_COST);
	ck_assert_msg(!cost->is_known, "%g", cost->value);
	ck_assert_msg(cost->is_foreign, "%s", cost->missing);
	ck_assert(scene.live.scene.profile.parts[TP_PART_COMPUTE].share.has_interval);
}
END_TEST

Suite *suite_analyze_trace_window_cost(void);
Suite *suite_analyze_trace_window_cost(void)
{
	Suite *suite = suite_create("analyze/windowcost");
	TCase *tc = tcase_create("windowcost");
	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_loop_test(tc, slowdown_and_cost_are_those_of_the_steps, 0,
			    sizeof(slowdowns) / sizeof(slowdowns[0]));
	tcase_add_test(tc, shares_are_as_sure_as_windows_are_alike);
	tcase_add_test(tc, a_single_window_says_that_it_is_one);
	tcase_add_test(tc, a_window_without_adjacent_steps_shows_no_cost);
	tcase_add_test(tc, a_window_in_warm_up_shows_no_cost);
	tcase_add_test(tc, continuous_tracing_has_no_windows);
	suite_add_tcase(suite, tc);
	return suite;
}
