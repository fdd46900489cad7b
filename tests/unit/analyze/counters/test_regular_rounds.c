/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of how alike rounds are that grow, shrink, or have several lengths. */
#include "analyze/counters/regular_rounds.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

enum { N = 300, MS = 1000000 };

static uint64_t borders[N + 1];

/* Lays N rounds one after another; length_ms() returns the length of one. */
static double share_in(double (*length_ms)(int i), bool may_change)
{
	double median;
	borders[0] = 5 * MS;
	for (int i = 0; i < N; i++)
		borders[i + 1] = borders[i] + (uint64_t)(length_ms(i) * MS);
	return tp_regular_share(borders, N + 1, may_change, &median);
}

static double share_of(double (*length_ms)(int i))
{
	return share_in(length_ms, true);
}

/* Returns the same numbers between 0 and 1 in each run. */
static double noise(int i)
{
	unsigned seed = (unsigned)i * 2654435761U;
	seed ^= seed >> 15;
	seed *= 2246822519U;
	seed ^= seed >> 13;
	return (double)(seed & 0xffff) / 65536.0;
}

static double grows_eight_times(int i)
{
	return 5 + 35.0 * i / N;
}

static double shrinks(int i)
{
	return 40 - 35.0 * i / N;
}

static double doubles_in_stages(int i)
{
	return 5 << 4 * i / N;
}

static double ten_times_as_long_in_the_end(int i)
{
	return i < N * 6 / 10 ? 4 : 40;
}

static double two_lengths_in_blocks(int i)
{
	return i / 17 % 2 ? 32 : 8;
}

static double two_lengths_in_turns(int i)
{
	return i % 2 ? 32 : 8;
}

/* Fifteen rounds of training, fifteen of evaluation. */
static double two_loops_in_turns(int i)
{
	return i / 15 % 2 ? 50 : 200;
}

/* Events without any rhythm. */
static double at_random(int i)
{
	return -20 * log(1 - noise(i));
}

START_TEST(rounds_that_change_slowly_are_alike)
{
	ck_assert_double_ge(share_of(grows_eight_times), 0.99);
	ck_assert_double_ge(share_of(shrinks), 0.99);
	ck_assert_double_ge(share_of(doubles_in_stages), 0.9);
	ck_assert_double_ge(share_of(ten_times_as_long_in_the_end), 0.95);
}
END_TEST

START_TEST(rounds_of_two_lengths_are_alike)
{
	ck_assert_double_ge(share_of(two_lengths_in_blocks), 0.75);
	ck_assert_double_ge(share_of(two_lengths_in_turns), 0.99);
}
END_TEST

/* Files are loaded, then the model trains; or training and evaluation take turns. */
START_TEST(rounds_of_two_loops_are_not_alike)
{
	ck_assert_double_le(share_in(two_loops_in_turns, false), 0.55);
	ck_assert_double_le(share_in(ten_times_as_long_in_the_end, false), 0.65);
}
END_TEST

/* The median of a few neighbours is not nearer to a number that is drawn than that of all. */
START_TEST(random_rounds_are_not_alike)
{
	double share = share_of(at_random);
	ck_assert_double_gt(share, 0.2);
	ck_assert_double_lt(share, 0.5);
}
END_TEST

START_TEST(median_is_that_of_all_rounds)
{
	double median;
	share_of(ten_times_as_long_in_the_end);
	tp_regular_share(borders, N + 1, true, &median);
	ck_assert_double_eq_tol(median, 4.0 * MS, 1);
}
END_TEST

START_TEST(usual_length_is_that_of_neighbours)
{
	double usual_ns[N];
	share_of(ten_times_as_long_in_the_end);
	tp_local_lengths(borders, N + 1, usual_ns);
	ck_assert_double_eq_tol(usual_ns[0], 4.0 * MS, 1);
	ck_assert_double_eq_tol(usual_ns[N - 1], 40.0 * MS, 1);
}
END_TEST

/* Of 20 rounds, the last five are compared with the ten before them, too. */
START_TEST(rest_is_compared_with_a_whole_neighbourhood)
{
	double usual_ns[20];
	for (size_t i = 0; i < 21; i++)
		borders[i] = (i < 18 ? i : 18 + (i - 18) * 5) * MS;
	tp_local_lengths(borders, 21, usual_ns);
	ck_assert_double_eq_tol(usual_ns[19], 1.0 * MS, 1);
}
END_TEST

START_TEST(few_rounds_are_compared_with_all)
{
	double usual_ns[3];
	borders[0] = 0;
	borders[1] = 10;
	borders[2] = 30;
	borders[3] = 60;
	tp_local_lengths(borders, 4, usual_ns);
	for (int i = 0; i < 3; i++)
		ck_assert_double_eq_tol(usual_ns[i], 20, 0.1);
	tp_local_lengths(borders, 1, usual_ns);
	ck_assert_double_eq_tol(usual_ns[0], 20, 0.1);
}
END_TEST

Suite *suite_analyze_regular_rounds(void);
Suite *suite_analyze_regular_rounds(void)
{
	Suite *suite = suite_create("analyze/regular_rounds");
	TCase *tc = tcase_create("regular_rounds");
	tcase_add_test(tc, rounds_that_change_slowly_are_alike);
	tcase_add_test(tc, rounds_of_two_lengths_are_alike);
	tcase_add_test(tc, rounds_of_two_loops_are_not_alike);
	tcase_add_test(tc, random_rounds_are_not_alike);
	tcase_add_test(tc, median_is_that_of_all_rounds);
	tcase_add_test(tc, usual_length_is_that_of_neighbours);
	tcase_add_test(tc, rest_is_compared_with_a_whole_neighbourhood);
	tcase_add_test(tc, few_rounds_are_compared_with_all);
	suite_add_tcase(suite, tc);
	return suite;
}
