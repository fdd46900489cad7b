/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of error bars, with series whose true values are known. */
#include "analyze/numeric/stats.h"

#include "trainprof/base/memory.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

/* splitmix64: small, and the same on every machine. */
static double uniform(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *state)
{
	return sqrt(-2 * log(uniform(state))) * cos(6.283185307179586 * uniform(state));
}

/* Stationary AR(1) with standard deviation 1. */
static void fill_ar1(double *x, size_t n, double phi, uint64_t *state)
{
	double value = normal(state);
	for (size_t i = 0; i < n; i++) {
		x[i] = value;
		value = phi * value + sqrt(1 - phi * phi) * normal(state);
	}
}

START_TEST(t_quantiles_match_published_tables)
{
	static const struct {
		size_t df;
		double t;
	} cases[] = {{1, 12.706}, {4, 2.776},  {9, 2.262},   {14, 2.145},  {15, 2.131},
		     {20, 2.086}, {29, 2.045}, {100, 1.984}, {1000, 1.962}};
	for (size_t i = 0; i < TP_ARRAY_LEN(cases); i++)
		ck_assert_double_eq_tol(tp_stats_t975(cases[i].df), cases[i].t, 1e-3);
}
END_TEST

START_TEST(ratio_weighs_long_steps_more)
{
	/* Ten steps of 1 with share 0 and ten of 3 with share 1: 30 of 40. */
	double x[20];
	double w[20];
	for (int i = 0; i < 20; i++) {
		w[i] = i % 2 ? 3 : 1;
		x[i] = i % 2 ? 3 : 0;
	}
	struct tp_estimate e;
	tp_stats_ratio(x, w, 20, &e);
	ck_assert_double_eq_tol(e.value, 0.75, 1e-12);
	ck_assert_uint_eq(e.n_batches, 10);
	/* Every batch contains one of each, so there is no variation between batches. */
	ck_assert_double_eq_tol(e.low, 0.75, 1e-12);
	ck_assert_double_eq_tol(e.high, 0.75, 1e-12);
}
END_TEST

START_TEST(ratio_interval_is_the_formula_worked_by_hand)
{
	/* Twelve steps of weight 1: six batches of two; batch sums 2,0,2,0,2,0, p = 0.5, residuals
	 * +-1, se = sqrt(6 / (6*5)) / 2 = 0.2236; t(5) = 2.5706. */
	double x[12] = {1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0};
	double w[12] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	struct tp_estimate e;
	tp_stats_ratio(x, w, 12, &e);
	ck_assert_uint_eq(e.n_batches, 6);
	ck_assert_double_eq_tol(e.high, 1.0, 1e-12); /* 0.5 + 0.5748, clipped */
	tp_stats_mean(x, 12, &e);
	ck_assert_double_eq_tol(e.high, 0.5 + 2.5706 * 0.223607, 1e-4);
}
END_TEST

/* Three groups of (x, w): (3, 10), (12, 20), (5, 10). The ratio is 0.5, residuals are -2, 2 and 0;
 * 8 x 3 / 2 = 12, so half is 4.3027 x sqrt(12) / 40. */
START_TEST(groups_are_what_differs)
{
	static const double x[] = {1, 2, 4, 8, 5};
	static const double w[] = {5, 5, 10, 10, 10};
	static const size_t group[] = {1, 1, 4, 4, 7};
	struct tp_estimate e;
	tp_stats_ratio_groups(x, w, group, 5, &e);
	ck_assert_double_eq_tol(e.value, 0.5, 1e-12);
	ck_assert_double_eq_tol(e.high - e.value, 4.3027 * sqrt(12) / 40, 1e-9);
	ck_assert_double_eq_tol(e.value - e.low, 4.3027 * sqrt(12) / 40, 1e-9);
	ck_assert_uint_eq(e.n_batches, 3);
	tp_stats_ratio_groups(x, w, group, 2, &e);
	ck_assert_uint_eq(e.n_batches, 1); /* the error is not known */
	ck_assert_double_eq(e.low, 0);
	ck_assert_double_eq(e.high, 1);
	tp_stats_ratio_groups(x, w, group, 0, &e);
	ck_assert_uint_eq(e.n_batches, 0);
}
END_TEST

/* Eight windows of twenty steps whose shares differ by 0.05 from window to window and by 0.02 from
 * step to step: 95 % of the intervals contain the true value. */
START_TEST(intervals_of_groups_hold)
{
	enum { RUNS = 2000, GROUPS = 8, STEPS = 20 };
	double x[GROUPS * STEPS];
	double w[GROUPS * STEPS];
	size_t group[GROUPS * STEPS];
	uint64_t state = 5;
	int n_held = 0;
	for (int run = 0; run < RUNS; run++) {
		double level = 0;
		for (size_t i = 0; i < GROUPS * STEPS; i++) {
			if (i % STEPS == 0)
				level = 0.5 + 0.05 * normal(&state);
			group[i] = i / STEPS;
			w[i] = 1;
			x[i] = level + 0.02 * normal(&state);
		}
		struct tp_estimate e;
		tp_stats_ratio_groups(x, w, group, GROUPS * STEPS, &e);
		n_held += e.low <= 0.5 && 0.5 <= e.high;
	}
	ck_assert_double_eq_tol((double)n_held / RUNS, 0.95, 0.015);
}
END_TEST

START_TEST(few_steps_give_the_range_and_say_so)
{
	double x[4] = {1, 2, 3, 0};
	double w[4] = {10, 10, 10, 10};
	struct tp_estimate e;
	tp_stats_ratio(x, w, 4, &e);
	ck_assert(e.is_few);
	ck_assert_double_eq_tol(e.value, 0.15, 1e-12);
	ck_assert_double_eq_tol(e.low, 0, 1e-12);
	ck_assert_double_eq_tol(e.high, 0.3, 1e-12);
	tp_stats_ratio(x, w, 0, &e);
	ck_assert_double_eq(e.value, 0);
	ck_assert_double_eq(e.high, 0);
}
END_TEST

/* Share of intervals that contain the true value, as in docs/design/steps.md#intervals. */
static const struct {
	double phi;
	size_t n;
	double coverage;
} published[] = {{0.5, 30, 0.88},  {0.5, 100, 0.91},  {0.5, 400, 0.94}, {0.8, 100, 0.89},
		 {0.8, 400, 0.93}, {0.95, 400, 0.86}, {0, 100, 0.955}};

/* Loader time is AR(1) around 30, plus 70 of compute; repetitions share no random numbers. */
static double covered_by_ratio(double phi, size_t n, int repetitions)
{
	uint64_t state = 42 + n;
	double x[400];
	double w[400];
	int held = 0;
	for (int r = 0; r < repetitions; r++) {
		fill_ar1(x, n, phi, &state);
		for (size_t i = 0; i < n; i++) {
			x[i] = 30 + 6 * x[i];
			w[i] = 70 + x[i];
		}
		struct tp_estimate e;
		tp_stats_ratio(x, w, n, &e);
		held += e.low <= 0.3 && 0.3 <= e.high;
	}
	return (double)held / repetitions;
}

START_TEST(ratio_intervals_hold_as_published)
{
	double coverage = covered_by_ratio(published[_i].phi, published[_i].n, 600);
	ck_assert_msg(fabs(coverage - published[_i].coverage) <= 0.04,
		      "phi %.2f n %zu: %.3f, published %.3f", published[_i].phi, published[_i].n,
		      coverage, published[_i].coverage);
}
END_TEST

/* Log-normal step times: their median is known, and their mean is not the median. */
static double covered_by_median(double phi, size_t n, int repetitions)
{
	uint64_t state = 7 + n;
	double x[400];
	int held = 0;
	for (int r = 0; r < repetitions; r++) {
		fill_ar1(x, n, phi, &state);
		for (size_t i = 0; i < n; i++)
			x[i] = 50e6 * exp(0.2 * x[i]);
		struct tp_stat stat;
		tp_stats_describe(x, n, &stat);
		held += stat.median_low <= 50e6 && 50e6 <= stat.median_high;
	}
	return (double)held / repetitions;
}

START_TEST(median_intervals_hold_no_worse_than_those_of_means)
{
	double coverage = covered_by_median(published[_i].phi, published[_i].n, 400);
	ck_assert_msg(coverage >= published[_i].coverage - 0.04 && coverage <= 0.985,
		      "phi %.2f n %zu: %.3f", published[_i].phi, published[_i].n, coverage);
}
END_TEST

START_TEST(effective_n_of_ar1_is_known)
{
	static const struct {
		double phi;
		double share; /* (1 - phi) / (1 + phi) */
	} cases[] = {{0, 1}, {0.5, 1.0 / 3}, {0.8, 1.0 / 9}};
	double *x = tp_alloc(4000 * sizeof(*x));
	for (size_t i = 0; i < TP_ARRAY_LEN(cases); i++) {
		uint64_t state = 3;
		fill_ar1(x, 4000, cases[i].phi, &state);
		double share = tp_stats_effective_n(x, 4000) / 4000;
		ck_assert_double_eq_tol(share / cases[i].share, 1, 0.2);
	}
	/* A ramp is one long drift; a constant counts as independent. */
	for (int i = 0; i < 100; i++)
		x[i] = i;
	ck_assert_double_lt(tp_stats_effective_n(x, 100), 10);
	for (int i = 0; i < 100; i++)
		x[i] = 5;
	ck_assert_double_eq(tp_stats_effective_n(x, 100), 100);
	free(x);
}
END_TEST

START_TEST(description_of_a_ramp_is_exact)
{
	double x[101];
	for (int i = 0; i <= 100; i++)
		x[(i * 37) % 101] = i;
	struct tp_stat stat;
	tp_stats_describe(x, 101, &stat);
	ck_assert_uint_eq(stat.n, 101);
	ck_assert_double_eq_tol(stat.mean, 50, 1e-9);
	ck_assert_double_eq_tol(stat.median, 50, 1e-9);
	ck_assert_double_eq_tol(stat.p05, 5, 1e-9);
	ck_assert_double_eq_tol(stat.p95, 95, 1e-9);
	ck_assert_double_eq_tol(stat.p99, 99, 1e-9);
	ck_assert_double_eq_tol(stat.mad, 25, 1e-9);
	ck_assert_double_le(stat.median_low, 50);
	ck_assert_double_ge(stat.median_high, 50);
	tp_stats_describe(x, 0, &stat);
	ck_assert_double_eq(stat.median_high, 0);
	tp_stats_describe(x, 1, &stat);
	ck_assert_double_eq(stat.median_low, x[0]);
}
END_TEST

/* Values in several orders, with and without repeats; a pipe rises and falls again. */
static double value_of(int order, size_t i, size_t n, uint64_t *state)
{
	switch (order) {
	case 0:
		return uniform(state);
	case 1:
		return floor(uniform(state) * 4);
	case 2:
		return (double)i;
	case 3:
		return (double)(n - i);
	default:
		return (double)(i < n / 2 ? i : n - i);
	}
}

START_TEST(the_median_is_that_of_the_sorted_values)
{
	enum { MOST = 400 };
	double x[MOST];
	double sorted[MOST];
	uint64_t state = 5;
	for (size_t n = 0; n < MOST; n += 1 + n / 10) {
		for (size_t i = 0; i < n; i++)
			sorted[i] = x[i] = value_of(_i, i, n, &state);
		tp_stats_sort(sorted, n);
		ck_assert_double_eq(tp_stats_median(x, n), tp_stats_quantile(sorted, n, 0.5));
	}
}
END_TEST

START_TEST(mser_finds_a_slow_start)
{
	uint64_t state = 1;
	double x[300];
	for (int i = 0; i < 300; i++)
		x[i] = 3 + 0.02 * normal(&state) + (i < 40 ? 0.5 * exp(-i / 15.0) : 0);
	size_t cut = tp_stats_mser5(x, 300);
	ck_assert_uint_ge(cut, 20);
	ck_assert_uint_le(cut, 60);
	ck_assert_uint_eq(tp_stats_mser5(x, 19), 0);
}
END_TEST

START_TEST(level_shifts_are_placed_within_a_few_steps)
{
	static const struct {
		size_t n;
		size_t at[3];
		double level[4];
		size_t n_levels;
	} cases[] = {
		{200, {100}, {0, 0.1}, 2},
		{300, {50, 250}, {0.2, 0, 0.2}, 3},
		{200, {0}, {0}, 1},
		{200, {100}, {0, 0.02}, 1}, /* below the smallest shift that counts */
		{400, {100, 200, 300}, {0, 0.1, 0.2, 0.3}, 4},
	};
	for (size_t c = 0; c < TP_ARRAY_LEN(cases); c++) {
		uint64_t state = 11;
		double x[400];
		for (size_t i = 0, level = 0; i < cases[c].n; i++) {
			if (level < 3 && cases[c].at[level] && i == cases[c].at[level])
				level++;
			x[i] = 18 + cases[c].level[level] + 0.03 * normal(&state);
		}
		size_t starts[8];
		size_t n = tp_stats_levels(x, cases[c].n, 10, log(1.03), starts, 8);
		ck_assert_uint_eq(n, cases[c].n_levels);
		ck_assert_uint_eq(starts[0], 0);
		for (size_t i = 1; i < n; i++)
			ck_assert_double_eq_tol((double)starts[i], (double)cases[c].at[i - 1], 5);
	}
}
END_TEST

START_TEST(noise_has_one_level)
{
	static const double phis[] = {0, 0.5, 0.8};
	for (size_t p = 0; p < TP_ARRAY_LEN(phis); p++) {
		uint64_t state = 5;
		int alarms = 0;
		double x[1000];
		for (int r = 0; r < 300; r++) {
			size_t n = r % 6 ? 200 : 1000;
			fill_ar1(x, n, phis[p], &state);
			for (size_t i = 0; i < n; i++)
				x[i] *= 0.1;
			size_t starts[4];
			alarms += tp_stats_levels(x, n, 10, log(1.03), starts, 4) > 1;
		}
		ck_assert_msg(alarms <= 6, "phi %.1f: %d of 300", phis[p], alarms);
	}
}
END_TEST

Suite *suite_analyze_stats(void);
Suite *suite_analyze_stats(void)
{
	Suite *suite = suite_create("analyze/stats");
	TCase *tc = tcase_create("stats");
	tcase_add_test(tc, t_quantiles_match_published_tables);
	tcase_add_loop_test(tc, the_median_is_that_of_the_sorted_values, 0, 5);
	tcase_add_test(tc, ratio_weighs_long_steps_more);
	tcase_add_test(tc, ratio_interval_is_the_formula_worked_by_hand);
	tcase_add_test(tc, groups_are_what_differs);
	tcase_add_test(tc, intervals_of_groups_hold);
	tcase_add_test(tc, few_steps_give_the_range_and_say_so);
	tcase_add_loop_test(tc, ratio_intervals_hold_as_published, 0, TP_ARRAY_LEN(published));
	tcase_add_loop_test(tc, median_intervals_hold_no_worse_than_those_of_means, 0,
			    TP_ARRAY_LEN(published));
	tcase_add_test(tc, effective_n_of_ar1_is_known);
	tcase_add_test(tc, description_of_a_ramp_is_exact);
	tcase_add_test(tc, mser_finds_a_slow_start);
	tcase_add_test(tc, level_shifts_are_placed_within_a_few_steps);
	tcase_add_test(tc, noise_has_one_level);
	suite_add_tcase(suite, tc);
	return suite;
}
