/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the number of pairs that suffices. */
#include "noise.h"
#include "proof.h"

#include "trainprof/gate/gate.h"

#include <check.h>
#include <stdio.h>

static const struct tp_pairs_plan open_ended = {.most = 15, .margin_ratio = 0.03};

static enum tp_pairs_state decide(const struct tp_pairs_plan *plan, size_t n, double now,
				  double spread)
{
	struct tp_run_value a[16];
	struct tp_run_value b[16];
	struct tp_gate_estimate ratio;
	for (size_t i = 0; i < n; i++) {
		a[i] = (struct tp_run_value){100, 0};
		b[i] = (struct tp_run_value){now + (i % 2 ? spread : -spread), 0};
	}
	return tp_pairs_judge(&ratio, a, b, NULL, n, plan);
}

START_TEST(special_steps_contradict_usual_ones)
{
	ck_assert(!tp_pairs_hide_special(TP_PAIRS_ALIKE, 1.01, 1));
	ck_assert(tp_pairs_hide_special(TP_PAIRS_ALIKE, 1.01, 2));
	ck_assert(tp_pairs_hide_special(TP_PAIRS_DIFFERENT, 0.9, 2));
	ck_assert(!tp_pairs_hide_special(TP_PAIRS_DIFFERENT, 1.1, 2));
	ck_assert(tp_pairs_hide_special(TP_PAIRS_DIFFERENT, 1.1, 0.5));
}
END_TEST

START_TEST(two_pairs_never_decide)
{
	ck_assert_int_eq(decide(&open_ended, 0, 200, 0), TP_PAIRS_MORE);
	ck_assert_int_eq(decide(&open_ended, 2, 200, 0.1), TP_PAIRS_MORE);
}
END_TEST

START_TEST(measuring_ends_at_a_clear_difference_or_equality)
{
	ck_assert_int_eq(decide(&open_ended, 4, 110, 0.5), TP_PAIRS_DIFFERENT);
	ck_assert_int_eq(decide(&open_ended, 4, 100, 0.5), TP_PAIRS_ALIKE);
	ck_assert_int_eq(decide(&open_ended, 4, 101, 5), TP_PAIRS_MORE);
	ck_assert_int_eq(decide(&open_ended, 15, 101, 9), TP_PAIRS_UNDECIDED);
}
END_TEST

START_TEST(a_fixed_number_of_pairs_is_judged_only_at_its_end)
{
	const struct tp_pairs_plan fixed = {.fixed = 8, .most = 15, .margin_ratio = 0.03};
	ck_assert_int_eq(decide(&fixed, 7, 150, 0.1), TP_PAIRS_MORE);
	ck_assert_int_eq(decide(&fixed, 8, 150, 0.1), TP_PAIRS_DIFFERENT);
	ck_assert_int_eq(decide(&fixed, 8, 101, 9), TP_PAIRS_UNDECIDED);
}
END_TEST

START_TEST(the_estimated_further_pairs_are_enough)
{
	struct tp_gate_estimate ratio = {1.02, 0.99, 1.05, 0.015, false};
	size_t more = tp_pairs_needed(&ratio, 5, &open_ended);
	ck_assert_uint_gt(more, 1);
	ratio.spread = 0.0001;
	ck_assert_uint_eq(tp_pairs_needed(&ratio, 5, &open_ended), 1);
	ratio.spread = 1;
	ck_assert_uint_eq(tp_pairs_needed(&ratio, 5, &open_ended), 1000);
}
END_TEST

/* Returns how often open-ended pairs end with a difference, for the same program, or with "slower",
 * for one that is slower by that much. */
static double found(enum noise_kind kind, double slowdown, size_t n_trials, double *n_pairs)
{
	struct noise noise = {.state = 4711 + (uint64_t)kind, .kind = kind};
	size_t n_found = 0;
	*n_pairs = 0;
	for (size_t i = 0; i < n_trials; i++) {
		struct tp_run_value v[2][15];
		bool is_now_first[15];
		struct tp_gate_estimate ratio = {0};
		enum tp_pairs_state state = TP_PAIRS_MORE;
		size_t n = 0;
		noise.n_runs = 0;
		for (; state == TP_PAIRS_MORE; n++) {
			int first = noise_uniform(&noise) < 0.5;
			is_now_first[n] = first == 1;
			for (int k = 0; k < 2; k++) {
				int side = k ? !first : first;
				v[side][n].value =
					noise_run(&noise, side ? slowdown : 1, &v[side][n].error);
			}
			state = tp_pairs_judge(&ratio, v[0], v[1], is_now_first, n + 1,
					       &open_ended);
		}
		*n_pairs += (double)n / (double)n_trials;
		n_found += slowdown > 1 ? state == TP_PAIRS_DIFFERENT && ratio.low > 1
					: state == TP_PAIRS_DIFFERENT;
	}
	return (double)n_found / (double)n_trials;
}

static void check_looks(enum noise_kind kind, size_t n_trials)
{
	double n_alike;
	double n_slower;
	double alarms = found(kind, 1, n_trials, &n_alike);
	double power = found(kind, 1.03, n_trials, &n_slower);
	printf("%s  %-18s until decided: alarms %.1f %% (%.1f pairs); 3 %% found in %.1f %% (%.1f "
	       "pairs)\n",
	       alarms <= 0.05 ? "pass" : "FAIL", noise_name(kind), 100 * alarms, n_alike,
	       100 * power, n_slower);
	fflush(stdout);
	ck_assert(alarms <= 0.05);
	if (kind == NOISE_QUIET)
		ck_assert(power >= 0.9 && n_slower <= 10);
}

START_TEST(checks_after_each_pair_keep_false_alarms_low)
{
	check_looks((enum noise_kind)_i, 200);
}
END_TEST

START_TEST(checks_after_each_pair_keep_false_alarms_low_in_many_trials)
{
	check_looks((enum noise_kind)_i, 2000);
}
END_TEST

Suite *suite_gate_pairs(void);

Suite *suite_gate_pairs(void)
{
	Suite *s = suite_create("gate_pairs");
	TCase *tc = tcase_create("all");
	tcase_add_test(tc, special_steps_contradict_usual_ones);
	tcase_add_test(tc, two_pairs_never_decide);
	tcase_add_test(tc, measuring_ends_at_a_clear_difference_or_equality);
	tcase_add_test(tc, a_fixed_number_of_pairs_is_judged_only_at_its_end);
	tcase_add_test(tc, the_estimated_further_pairs_are_enough);
	tcase_add_loop_test(tc, checks_after_each_pair_keep_false_alarms_low, 0, N_NOISES);
	suite_add_tcase(s, tc);
	TCase *proofs = proof_case(s, "simulation");
	tcase_set_timeout(proofs, 120);
	tcase_add_loop_test(proofs, checks_after_each_pair_keep_false_alarms_low_in_many_trials, 0,
			    N_NOISES);
	return s;
}
