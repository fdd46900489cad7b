/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the point at which a history became slower. */
#include "noise.h"
#include "proof.h"

#include "trainprof/gate/history.h"

#include <check.h>
#include <math.h>
#include <stdio.h>

enum { SAVES = 60, RUNS = 3 };

static double times[SAVES][RUNS];
static struct tp_history_save saves[SAVES];
static struct tp_run_history history = {.saves = saves};
static struct tp_history_result result;

/* Checks histories with one run per save. */
static void judge(const double *time_ms, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		times[i][0] = time_ms[i] * 1e6;
		saves[i] = (struct tp_history_save){.is_of_steps = true,
						    .time_ns = times[i],
						    .n_times = 1};
	}
	history.n = n;
	tp_history_judge(&result, &history, 0.03);
}

#define JUDGE(...)                                                                                 \
	judge((const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

START_TEST(an_unchanged_history_passes)
{
	JUDGE(10, 10.1, 9.9, 10, 10.05, 9.95, 10);
	ck_assert_int_eq(result.answer, TP_GATE_PASS);
	ck_assert_uint_eq(result.n_levels, 1);
}
END_TEST

START_TEST(the_first_slow_save_is_named)
{
	JUDGE(10, 10.1, 9.9, 10, 10.05, 11.5, 11.6, 11.4);
	ck_assert_int_eq(result.answer, TP_GATE_FAIL);
	ck_assert_uint_eq(result.levels[result.culprit].first, 5);
	ck_assert(result.change.low > 1.1 && result.change.high < 1.2);
}
END_TEST

START_TEST(a_partial_recovery_is_still_slower_since_the_first_change)
{
	JUDGE(10, 10.05, 9.95, 10, 10, 10, 15, 15.1, 14.9, 15, 15, 15, 12, 12.1, 11.9, 12, 12, 12);
	ck_assert_uint_eq(result.n_levels, 3);
	ck_assert_int_eq(result.answer, TP_GATE_FAIL);
	ck_assert_uint_eq(result.levels[result.culprit].first, 6);
	JUDGE(10, 10.05, 9.95, 10, 15, 15.1, 14.9, 15, 10, 10.1, 9.9, 10);
	ck_assert_int_eq(result.answer, TP_GATE_PASS);
}
END_TEST

START_TEST(a_faster_history_passes)
{
	JUDGE(15, 15.1, 14.9, 15, 10, 10.1, 9.9, 10);
	ck_assert_uint_eq(result.n_levels, 2);
	ck_assert_int_eq(result.answer, TP_GATE_PASS);
}
END_TEST

START_TEST(a_single_slow_save_is_undecided)
{
	JUDGE(10, 10.1, 9.9, 10, 10.05, 9.95, 13);
	ck_assert_int_eq(result.answer, TP_GATE_UNDECIDED);
	JUDGE(10, 10.1, 9.9, 13, 10.05, 9.95, 10);
	ck_assert_int_eq(result.answer, TP_GATE_PASS);
}
END_TEST

START_TEST(few_saves_are_not_judged)
{
	JUDGE(10, 10, 20, 20);
	ck_assert_int_eq(result.answer, TP_GATE_UNDECIDED);
	JUDGE(10);
	ck_assert_int_eq(result.answer, TP_GATE_UNDECIDED);
}
END_TEST

START_TEST(a_change_below_the_margin_passes)
{
	JUDGE(10, 10.01, 9.99, 10, 10.2, 10.21, 10.19, 10.2);
	ck_assert_uint_eq(result.n_levels, 2);
	ck_assert_int_eq(result.answer, TP_GATE_PASS);
}
END_TEST

START_TEST(another_machine_starts_a_new_series)
{
	JUDGE(10, 10, 10, 10, 10, 20, 20, 20, 20, 20);
	for (size_t i = 0; i < history.n; i++)
		saves[i].machine = i < 5 ? "A" : "B";
	tp_history_judge(&result, &history, 0.03);
	ck_assert_int_eq(result.answer, TP_GATE_PASS);
	ck_assert_uint_eq(result.n_left_out, 5);
	ck_assert_uint_eq(result.levels[0].first, 5);
}
END_TEST

/* ---- simulated nights -------------------------------------------------------------------- */

/* Three runs each night, and a check after each. In nights from `at` on the program is slower. */
struct nights {
	bool is_alarm;  /* a check reported "slower" before the change */
	size_t n_until; /* nights from the change until a check reported it; 0 = never */
	bool is_named;  /* and that check named the night of the change */
};

static struct nights simulate(struct noise *noise, double slowdown, size_t at)
{
	struct nights out = {0};
	noise->n_runs = 0;
	for (size_t i = 0; i < SAVES; i++) {
		for (size_t k = 0; k < RUNS; k++) {
			double error;
			times[i][k] = 1e6 * noise_run(noise, i >= at ? slowdown : 1, &error);
		}
		saves[i] = (struct tp_history_save){.is_of_steps = true,
						    .time_ns = times[i],
						    .n_times = RUNS};
		history.n = i + 1;
		tp_history_judge(&result, &history, 0.03);
		if (result.answer != TP_GATE_FAIL)
			continue;
		if (i < at) {
			out.is_alarm = true;
		} else if (!out.n_until) {
			out.n_until = i - at + 1;
			out.is_named = result.levels[result.culprit].first == at;
		}
	}
	return out;
}

static void check_nights(enum noise_kind kind, double drift_ratio, size_t n_trials)
{
	struct noise noise = {.state = 99 + (uint64_t)kind,
			      .kind = kind,
			      .drift_ratio = drift_ratio};
	size_t n_alarms = 0;
	size_t n_found = 0;
	size_t n_named = 0;
	size_t n_nights = 0;
	for (size_t i = 0; i < n_trials; i++) {
		n_alarms += simulate(&noise, 1, SAVES).is_alarm;
		struct nights slower = simulate(&noise, 1.10, 30);
		n_found += slower.n_until > 0;
		n_named += slower.is_named;
		n_nights += slower.n_until;
	}
	bool is_reached = n_alarms * 20 <= n_trials && n_found * 10 >= n_trials * 9;
	printf("%s  %-18s history: alarms in 60 nights %.1f %%; 10 %% found %.1f %%, named %.1f "
	       "%%, "
	       "after %.1f nights\n",
	       is_reached ? "pass" : "FAIL", noise_name(kind),
	       100.0 * (double)n_alarms / (double)n_trials,
	       100.0 * (double)n_found / (double)n_trials,
	       100.0 * (double)n_named / (double)n_trials,
	       n_found ? (double)n_nights / (double)n_found : 0.0);
	fflush(stdout);
	ck_assert(is_reached);
	if (kind == NOISE_QUIET)
		ck_assert(n_named * 10 >= n_trials * 9);
}

START_TEST(false_alarms_are_rare_in_sixty_nights)
{
	check_nights((enum noise_kind)_i, 0, 20);
}
END_TEST

START_TEST(false_alarms_are_rare_in_sixty_nights_in_many_trials)
{
	check_nights((enum noise_kind)_i, 0, 400);
}
END_TEST

/* Slow drifts are the harder ones: the levels that they look like are long. */
START_TEST(slow_drifts_blame_no_save)
{
	static const double drifts[] = {0.0003, 0.001, 0.003};
	check_nights(NOISE_DRIFT, drifts[_i], 400);
}
END_TEST

START_TEST(a_gradual_slowdown_is_undecided)
{
	double v[30];
	for (size_t i = 0; i < 30; i++)
		v[i] = 10 * pow(1.01, (double)i) * (i % 2 ? 1.001 : 0.999);
	judge(v, 30);
	ck_assert_int_eq(result.answer, TP_GATE_UNDECIDED);
	ck_assert_double_eq_tol(result.drift_ratio, 0.01, 0.0005);
	for (size_t i = 20; i < 30; i++)
		v[i] *= 1.2;
	judge(v, 30);
	ck_assert_int_eq(result.answer, TP_GATE_FAIL);
	ck_assert_uint_eq(result.levels[result.culprit].first, 20);
	ck_assert_double_eq_tol(result.change.difference, 1.2, 0.003);
}
END_TEST

Suite *suite_gate_history(void);

Suite *suite_gate_history(void)
{
	Suite *s = suite_create("gate_history");
	TCase *tc = tcase_create("all");
	tcase_add_test(tc, an_unchanged_history_passes);
	tcase_add_test(tc, the_first_slow_save_is_named);
	tcase_add_test(tc, a_partial_recovery_is_still_slower_since_the_first_change);
	tcase_add_test(tc, a_faster_history_passes);
	tcase_add_test(tc, a_single_slow_save_is_undecided);
	tcase_add_test(tc, few_saves_are_not_judged);
	tcase_add_test(tc, a_change_below_the_margin_passes);
	tcase_add_test(tc, another_machine_starts_a_new_series);
	tcase_add_test(tc, a_gradual_slowdown_is_undecided);
	tcase_add_loop_test(tc, false_alarms_are_rare_in_sixty_nights, 0, N_NOISES);
	suite_add_tcase(s, tc);
	TCase *proofs = proof_case(s, "simulation");
	tcase_set_timeout(proofs, 300);
	tcase_add_loop_test(proofs, false_alarms_are_rare_in_sixty_nights_in_many_trials, 0,
			    N_NOISES);
	tcase_add_loop_test(proofs, slow_drifts_blame_no_save, 0, 3);
	return s;
}
