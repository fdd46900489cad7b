/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of intervals between runs: calculated by hand, and for simulated runs with known true
 * values. */
#include "noise.h"
#include "proof.h"

#include "trainprof/base/memory.h"
#include "trainprof/gate/gate.h"

#include <check.h>
#include <math.h>
#include <stdio.h>

static const struct tp_gate_design apart = {false, 0.95, 0.02};
static const struct tp_gate_design paired = {true, 0.95, 0.02};

START_TEST(welch_interval_is_the_formula_worked_by_hand)
{
	/* Means 2 and 5, variances 1 and 4, of 3 runs each: standard error sqrt(5/3), df 2.941. */
	const struct tp_run_value base[] = {{1, 0}, {2, 0}, {3, 0}};
	const struct tp_run_value now[] = {{3, 0}, {5, 0}, {7, 0}};
	struct tp_gate_estimate e;
	tp_gate_estimate_make(&e, base, 3, now, 3, &apart);
	double half = tp_student_quantile(0.975, 25.0 / 8.5) * sqrt(5.0 / 3);
	ck_assert_double_eq_tol(e.value, 3, 1e-12);
	ck_assert_double_eq_tol(e.high - e.value, half, 1e-9);
	ck_assert(!e.is_assumed);
}
END_TEST

START_TEST(pairs_take_out_what_both_runs_share)
{
	/* The second pair ran on a machine with half the speed; every difference is 1. */
	const struct tp_run_value base[] = {{10, 0}, {20, 0}, {11, 0}};
	const struct tp_run_value now[] = {{11, 0}, {21, 0}, {12, 0}};
	struct tp_gate_estimate e;
	tp_gate_estimate_make(&e, base, 3, now, 3, &paired);
	ck_assert_double_eq_tol(e.low, 1, 1e-9);
	ck_assert_double_eq_tol(e.high, 1, 1e-9);
	tp_gate_estimate_make(&e, base, 3, now, 3, &apart);
	ck_assert(e.low < 0 && e.high > 2);
}
END_TEST

START_TEST(one_run_a_side_rests_on_the_assumed_noise)
{
	const struct tp_run_value base = {100, 0};
	const struct tp_run_value now = {105, 0};
	struct tp_gate_estimate e;
	tp_gate_ratio_make(&e, &base, 1, &now, 1, &apart);
	ck_assert(e.is_assumed);
	ck_assert_double_eq_tol(log(e.high / e.value), 1.959964 * sqrt(2) * 0.02, 1e-4);
	ck_assert_int_eq(tp_gate_verdict(&e, 0.03), TP_GATE_UNDECIDED);
}
END_TEST

START_TEST(steps_that_differ_much_widen_one_run_a_side)
{
	const struct tp_run_value base = {100, 10};
	const struct tp_run_value now = {130, 10};
	struct tp_gate_estimate e;
	tp_gate_ratio_make(&e, &base, 1, &now, 1, &apart);
	ck_assert(e.low < 1.15 && e.high > 1.45);
}
END_TEST

START_TEST(one_run_against_several_is_a_prediction)
{
	const struct tp_run_value base[] = {{100, 0}, {101, 0}, {99, 0}};
	const struct tp_run_value now = {103, 0};
	struct tp_gate_estimate e;
	tp_gate_estimate_make(&e, base, 3, &now, 1, &apart);
	double half = tp_student_quantile(0.975, 2) * sqrt(1.0 + 1.0 / 3);
	ck_assert_double_eq_tol(e.high - e.value, half, 1e-9);
}
END_TEST

START_TEST(answers_need_both_chance_and_margin_exceeded)
{
	static const struct {
		double value, low, high;
		enum tp_gate_answer answer;
	} rows[] = {
		{1.05, 1.01, 1.09, TP_GATE_FAIL},      {1.02, 1.01, 1.025, TP_GATE_PASS},
		{1.02, 1.01, 1.04, TP_GATE_UNDECIDED}, {1.05, 0.99, 1.11, TP_GATE_UNDECIDED},
		{0.9, 0.8, 1.0, TP_GATE_PASS},         {1.0, 0.96, 1.04, TP_GATE_UNDECIDED},
	};
	for (size_t i = 0; i < TP_ARRAY_LEN(rows); i++) {
		const struct tp_gate_estimate e = {rows[i].value, rows[i].low, rows[i].high, 0,
						   false};
		ck_assert_int_eq(tp_gate_verdict(&e, 0.03), rows[i].answer);
	}
}
END_TEST

/* ---- simulated runs ---------------------------------------------------------------------- */

struct rates {
	double covered; /* share of intervals that contain the true value */
	double alarms;  /* share of intervals that report "slower" */
};

enum { PAIRS_MAX = 10 };

/* Makes pairs in random order, as the compare command runs them. */
static void make_pairs(struct noise *noise, struct tp_run_value *base, struct tp_run_value *now,
		       size_t n, double slowdown)
{
	for (size_t i = 0; i < n; i++) {
		bool is_base_first = noise_uniform(noise) < 0.5;
		for (int side = 0; side < 2; side++) {
			struct tp_run_value *at = (side == 0) == is_base_first ? &base[i] : &now[i];
			at->value = noise_run(noise, at == &base[i] ? 1 : slowdown, &at->error);
		}
	}
}

static struct rates simulate(enum noise_kind kind, size_t n_pairs, double slowdown, size_t n_trials)
{
	struct noise noise = {.state = 20261125 + (uint64_t)kind, .kind = kind};
	struct rates out = {0};
	for (size_t i = 0; i < n_trials; i++) {
		struct tp_run_value base[PAIRS_MAX];
		struct tp_run_value now[PAIRS_MAX];
		struct tp_gate_estimate e;
		noise.n_runs = 0;
		make_pairs(&noise, base, now, n_pairs, slowdown);
		tp_gate_ratio_make(&e, base, n_pairs, now, n_pairs, &paired);
		out.covered += (e.low <= slowdown && slowdown <= e.high) / (double)n_trials;
		out.alarms += (e.low > 1) / (double)n_trials;
	}
	return out;
}

/* Checks the coverage of the intervals, nominally 95 %, with a tolerance of four standard errors of
 * n trials: the seed is fixed, so this always passes or always fails. */
static void check_rates(enum noise_kind kind, size_t n_pairs, size_t n_trials, double low,
			double high)
{
	struct rates none = simulate(kind, n_pairs, 1, n_trials);
	struct rates slower = simulate(kind, n_pairs, 1.03, n_trials);
	printf("%-18s %2zu pairs: coverage %.1f %%, false alarms %.1f %%; 3 %% found in %.1f %%\n",
	       noise_name(kind), n_pairs, 100 * none.covered, 100 * none.alarms,
	       100 * slower.alarms);
	ck_assert(none.covered >= low && none.covered <= high);
	ck_assert(slower.covered >= low && slower.covered <= high);
	ck_assert(none.alarms <= 0.05);
}

START_TEST(intervals_of_pairs_hold_under_every_noise)
{
	check_rates((enum noise_kind)_i, 5, 400, 0.92, 0.98);
}
END_TEST

START_TEST(three_percent_are_found_with_ten_pairs_on_a_quiet_machine)
{
	ck_assert(simulate(NOISE_QUIET, 10, 1.03, 400).alarms >= 0.9);
}
END_TEST

START_TEST(ten_percent_are_found_with_five_pairs_beside_a_neighbour)
{
	double three = simulate(NOISE_NEIGHBOUR, 3, 1.1, 400).alarms;
	double five = simulate(NOISE_NEIGHBOUR, 5, 1.1, 400).alarms;
	printf("busy neighbour: 10 %% found with 3 pairs in %.1f %%, with 5 in %.1f %%\n",
	       100 * three, 100 * five);
	ck_assert(five >= 0.9 && three >= 0.6);
}
END_TEST

/* Base first, then new: the change of the machine in between is not part of any spread. */
START_TEST(runs_one_after_the_other_are_fooled_by_drift_and_pairs_are_not)
{
	struct noise noise = {.state = 7, .kind = NOISE_DRIFT};
	size_t fooled = 0;
	for (int i = 0; i < 200; i++) {
		struct tp_run_value v[10];
		struct tp_gate_estimate e;
		noise.n_runs = 0;
		for (int run = 0; run < 10; run++)
			v[run].value = noise_run(&noise, 1, &v[run].error);
		tp_gate_ratio_make(&e, v, 5, v + 5, 5, &apart);
		fooled += e.low > 1;
	}
	ck_assert_uint_gt(fooled, 100);
	ck_assert(simulate(NOISE_DRIFT, 5, 1, 200).alarms <= 0.05);
}
END_TEST

/* make proof-gate: enough trials to distinguish 95 % from 93 and 97 %. */
START_TEST(coverage_is_93_to_97_percent)
{
	check_rates((enum noise_kind)(_i / 2), _i % 2 ? 10 : 5, 4000, 0.93, 0.97);
}
END_TEST

Suite *suite_gate_estimate(void);

Suite *suite_gate_estimate(void)
{
	Suite *s = suite_create("gate_estimate");
	TCase *tc = tcase_create("all");
	tcase_add_test(tc, welch_interval_is_the_formula_worked_by_hand);
	tcase_add_test(tc, pairs_take_out_what_both_runs_share);
	tcase_add_test(tc, one_run_a_side_rests_on_the_assumed_noise);
	tcase_add_test(tc, steps_that_differ_much_widen_one_run_a_side);
	tcase_add_test(tc, one_run_against_several_is_a_prediction);
	tcase_add_test(tc, answers_need_both_chance_and_margin_exceeded);
	tcase_add_loop_test(tc, intervals_of_pairs_hold_under_every_noise, 0, N_NOISES);
	tcase_add_test(tc, three_percent_are_found_with_ten_pairs_on_a_quiet_machine);
	tcase_add_test(tc, ten_percent_are_found_with_five_pairs_beside_a_neighbour);
	tcase_add_test(tc, runs_one_after_the_other_are_fooled_by_drift_and_pairs_are_not);
	suite_add_tcase(s, tc);
	TCase *proofs = proof_case(s, "simulation");
	tcase_set_timeout(proofs, 120);
	tcase_add_loop_test(proofs, coverage_is_93_to_97_percent, 0, 2 * N_NOISES);
	return s;
}
