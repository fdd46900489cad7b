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

static const struct tp_gate_design apart = {.confidence = 0.95, .noise = 0.02};
static const struct tp_gate_design paired = {.is_paired = true, .confidence = 0.95, .noise = 0.02};

START_TEST(welch_interval_matches_a_hand_calculation)
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

START_TEST(pairs_remove_noise_that_both_runs_share)
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

START_TEST(one_run_per_side_uses_the_assumed_noise)
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

START_TEST(variable_steps_widen_the_interval_of_one_run_per_side)
{
	const struct tp_run_value base = {100, 10};
	const struct tp_run_value now = {130, 10};
	struct tp_gate_estimate e;
	tp_gate_ratio_make(&e, &base, 1, &now, 1, &apart);
	ck_assert(e.low < 1.15 && e.high > 1.45);
}
END_TEST

START_TEST(one_run_against_several_gives_a_prediction_interval)
{
	const struct tp_run_value base[] = {{100, 0}, {101, 0}, {99, 0}};
	const struct tp_run_value now = {103, 0};
	struct tp_gate_estimate e;
	tp_gate_estimate_make(&e, base, 3, &now, 1, &apart);
	double half = tp_student_quantile(0.975, 2) * sqrt(1.0 + 1.0 / 3);
	ck_assert_double_eq_tol(e.high - e.value, half, 1e-9);
}
END_TEST

START_TEST(a_failure_exceeds_both_chance_and_margin)
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

struct pairs {
	struct tp_run_value base[PAIRS_MAX];
	struct tp_run_value now[PAIRS_MAX];
	bool is_now_first[PAIRS_MAX];
};

/* Makes pairs in random order, as the compare command runs them. */
static void make_pairs(struct noise *noise, struct pairs *pairs, size_t n, double slowdown)
{
	for (size_t i = 0; i < n; i++) {
		pairs->is_now_first[i] = noise_uniform(noise) >= 0.5;
		for (int k = 0; k < 2; k++) {
			bool is_now = (k == 0) == pairs->is_now_first[i];
			struct tp_run_value *at = is_now ? &pairs->now[i] : &pairs->base[i];
			at->value = noise_run(noise, is_now ? slowdown : 1, &at->error);
		}
	}
}

static struct rates simulate(enum noise_kind kind, size_t n_pairs, double slowdown, size_t n_trials)
{
	struct noise noise = {.state = 20261125 + (uint64_t)kind, .kind = kind};
	struct rates out = {0};
	for (size_t i = 0; i < n_trials; i++) {
		struct pairs pairs;
		const struct tp_gate_design design = {.is_paired = true,
						      .confidence = 0.95,
						      .spread_min = TP_GATE_SPREAD_MIN,
						      .is_now_first = pairs.is_now_first};
		struct tp_gate_estimate e;
		noise.n_runs = 0;
		make_pairs(&noise, &pairs, n_pairs, slowdown);
		tp_gate_ratio_make(&e, pairs.base, n_pairs, pairs.now, n_pairs, &design);
		out.covered += (e.low <= slowdown && slowdown <= e.high) / (double)n_trials;
		out.alarms += (e.low > 1) / (double)n_trials;
	}
	return out;
}

/* Prints a figure with its goal, and fails outside of it. The seed is fixed: it always passes or
 * always fails. */
static void check_figure(enum noise_kind kind, size_t n_pairs, const char *what, double share,
			 double low, double high)
{
	bool is_reached = share >= low && share <= high;
	printf("%s  %-18s %2zu pairs  %-22s %5.1f %%  (goal %.3g to %.3g %%)\n",
	       is_reached ? "pass" : "FAIL", noise_name(kind), n_pairs, what, 100 * share,
	       100 * low, 100 * high);
	fflush(stdout);
	ck_assert_msg(is_reached, "%s: %s: %.2f %%", noise_name(kind), what, 100 * share);
}

/* Checks the coverage of the intervals, nominally 95 %: `low` and `high` leave room for four
 * standard errors of n trials. */
static void check_rates(enum noise_kind kind, size_t n_pairs, size_t n_trials, double low,
			double high)
{
	struct rates none = simulate(kind, n_pairs, 1, n_trials);
	struct rates slower = simulate(kind, n_pairs, 1.03, n_trials);
	check_figure(kind, n_pairs, "coverage", none.covered, low, high);
	check_figure(kind, n_pairs, "coverage, 3 % slower", slower.covered, low, high);
	check_figure(kind, n_pairs, "false alarms", none.alarms, 0, 0.05);
	check_figure(kind, n_pairs, "3 % found", slower.alarms, 0, 1);
}

START_TEST(intervals_of_pairs_hold_under_every_noise)
{
	check_rates((enum noise_kind)(_i / 2), _i % 2 ? 5 : 3, 400, 0.91, 0.985);
}
END_TEST

START_TEST(ten_pairs_find_three_percent_on_a_quiet_machine)
{
	check_figure(NOISE_QUIET, 10, "3 % found", simulate(NOISE_QUIET, 10, 1.03, 400).alarms, 0.9,
		     1);
}
END_TEST

START_TEST(three_pairs_find_ten_percent_beside_a_neighbour)
{
	check_figure(NOISE_NEIGHBOUR, 3, "10 % found",
		     simulate(NOISE_NEIGHBOUR, 3, 1.1, 2000).alarms, 0.9, 1);
}
END_TEST

/* The known answer: sides differ by 0.1, runs in order by 0.01, and nothing else varies. */
START_TEST(a_known_order_removes_a_linear_drift)
{
	const struct tp_run_value base[] = {{1.00, 0}, {1.03, 0}, {1.04, 0}};
	const struct tp_run_value now[] = {{1.11, 0}, {1.12, 0}, {1.15, 0}};
	const bool is_now_first[] = {false, true, false};
	struct tp_gate_design design = paired;
	struct tp_gate_estimate e;
	tp_gate_estimate_make(&e, base, 3, now, 3, &design);
	ck_assert(e.high - e.low > 0.05);
	design.is_now_first = is_now_first;
	tp_gate_estimate_make(&e, base, 3, now, 3, &design);
	ck_assert_double_eq_tol(e.value, 0.1, 1e-9);
	ck_assert_double_eq_tol(e.high - e.low, 0, 1e-6);
}
END_TEST

START_TEST(similar_runs_of_a_pair_are_compared_within_the_pair)
{
	/* No straight line explains the second pair. */
	const struct tp_run_value base[] = {{10, 0}, {20, 0}, {11, 0}, {17, 0}};
	const struct tp_run_value now[] = {{11, 0}, {21.1, 0}, {12, 0}, {17.9, 0}};
	const bool is_now_first[] = {false, true, false, true};
	struct tp_gate_design design = paired;
	struct tp_gate_estimate with;
	struct tp_gate_estimate without;
	tp_gate_estimate_make(&without, base, 4, now, 4, &design);
	design.is_now_first = is_now_first;
	tp_gate_estimate_make(&with, base, 4, now, 4, &design);
	ck_assert_double_eq(with.low, without.low);
	ck_assert_double_eq(with.high, without.high);
}
END_TEST

START_TEST(equal_runs_have_an_interval_of_some_width)
{
	const struct tp_run_value same[] = {{5, 0}, {5, 0}, {5, 0}};
	for (int is_paired = 0; is_paired < 2; is_paired++) {
		struct tp_gate_design design = is_paired ? paired : apart;
		struct tp_gate_estimate e;
		design.spread_min = TP_GATE_SPREAD_MIN;
		tp_gate_ratio_make(&e, same, 3, same, 3, &design);
		ck_assert(e.low < 0.998 && e.high > 1.002);
	}
	struct tp_gate_design design = apart;
	struct tp_gate_estimate e;
	design.spread_min = TP_GATE_SPREAD_MIN;
	tp_gate_ratio_make(&e, same, 2, same, 1, &design);
	ck_assert(e.low < 0.98 && e.high > 1.02);
}
END_TEST

/* Base first, then new: the change of the machine in between is not part of any spread. */
START_TEST(drift_misleads_sequential_runs_but_not_pairs)
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
	static const size_t n_pairs[] = {3, 5, 10};
	check_rates((enum noise_kind)(_i / 3), n_pairs[_i % 3], 4000, 0.93, 0.97);
}
END_TEST

START_TEST(false_alarms_and_power_hold_in_many_trials)
{
	for (int kind = 0; kind < N_NOISES; kind++)
		check_figure((enum noise_kind)kind, 10, "false alarms of 400",
			     simulate((enum noise_kind)kind, 10, 1, 400).alarms, 0, 0.05);
	check_figure(NOISE_QUIET, 10, "3 % found", simulate(NOISE_QUIET, 10, 1.03, 4000).alarms,
		     0.9, 1);
	check_figure(NOISE_NEIGHBOUR, 3, "10 % found",
		     simulate(NOISE_NEIGHBOUR, 3, 1.1, 4000).alarms, 0.9, 1);
}
END_TEST

Suite *suite_gate_estimate(void);

Suite *suite_gate_estimate(void)
{
	Suite *s = suite_create("gate_estimate");
	TCase *tc = tcase_create("all");
	tcase_add_test(tc, welch_interval_matches_a_hand_calculation);
	tcase_add_test(tc, pairs_remove_noise_that_both_runs_share);
	tcase_add_test(tc, one_run_per_side_uses_the_assumed_noise);
	tcase_add_test(tc, variable_steps_widen_the_interval_of_one_run_per_side);
	tcase_add_test(tc, one_run_against_several_gives_a_prediction_interval);
	tcase_add_test(tc, a_failure_exceeds_both_chance_and_margin);
	tcase_add_loop_test(tc, intervals_of_pairs_hold_under_every_noise, 0, 2 * N_NOISES);
	tcase_add_test(tc, a_known_order_removes_a_linear_drift);
	tcase_add_test(tc, similar_runs_of_a_pair_are_compared_within_the_pair);
	tcase_add_test(tc, equal_runs_have_an_interval_of_some_width);
	tcase_add_test(tc, ten_pairs_find_three_percent_on_a_quiet_machine);
	tcase_add_test(tc, three_pairs_find_ten_percent_beside_a_neighbour);
	tcase_add_test(tc, drift_misleads_sequential_runs_but_not_pairs);
	suite_add_tcase(s, tc);
	TCase *proofs = proof_case(s, "simulation");
	tcase_set_timeout(proofs, 120);
	tcase_add_loop_test(proofs, coverage_is_93_to_97_percent, 0, 3 * N_NOISES);
	tcase_add_test(proofs, false_alarms_and_power_hold_in_many_trials);
	return s;
}
