/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of how regular calls are, with lists of intervals. */
#include "collect/watch/call_period.h"

#include <check.h>

enum { MS = 1000000 };

static uint64_t times[TP_PERIOD_CALLS_MAX + 8];
static size_t n_times;

static void setup(void)
{
	times[0] = 1000 * (uint64_t)MS;
	n_times = 1;
}

/* Adds calls, each this long after the one before. */
static void add(const unsigned *gaps_ms, size_t n, size_t rounds)
{
	for (size_t i = 0; i < rounds; i++)
		for (size_t k = 0; k < n; k++, n_times++)
			times[n_times] = times[n_times - 1] + (uint64_t)gaps_ms[k] * MS;
}

#define ADD(rounds, ...)                                                                           \
	add((const unsigned[]){__VA_ARGS__},                                                       \
	    sizeof((const unsigned[]){__VA_ARGS__}) / sizeof(unsigned), rounds)

static struct tp_call_period period(void)
{
	struct tp_call_period found;
	tp_call_period_find(&found, times, n_times);
	return found;
}

START_TEST(equal_intervals_are_rounds)
{
	ADD(5, 19, 20, 22, 20);
	struct tp_call_period found = period();
	ck_assert(found.is_regular);
	ck_assert_uint_eq(found.pause_ns, 0);
	ck_assert_double_eq_tol(found.rate_hz, 1000 / 20.25, 0.01);
	ck_assert(tp_call_period_begins_round(&found, times[0], times[0] + 1));
}
END_TEST

START_TEST(bursts_of_equal_size_are_rounds)
{
	ADD(8, 2, 2, 2, 74);
	struct tp_call_period found = period();
	ck_assert(found.is_regular);
	ck_assert_double_eq_tol(found.rate_hz, 12.5, 0.01);
	ck_assert(!tp_call_period_begins_round(&found, times[0], times[0] + 2 * MS));
	ck_assert(tp_call_period_begins_round(&found, times[0], times[0] + 60 * (uint64_t)MS));
	/* the first call of a record may be within a burst */
	ck_assert(!tp_call_period_begins_round(&found, 0, times[0]));
}
END_TEST

START_TEST(pairs_are_bursts_however_many_calls_are_known)
{
	ADD(8, 3, 17);
	ck_assert(period().is_regular);
	ADD(1, 3);
	ck_assert(period().is_regular);
	ck_assert_double_eq_tol(period().rate_hz, 50, 0.01);
}
END_TEST

START_TEST(pauses_that_are_hardly_longer_show_nothing)
{
	ADD(8, 10, 10, 10, 35);
	ck_assert(!period().is_regular);
}
END_TEST

START_TEST(a_burst_lasts_from_its_first_call_to_its_last)
{
	ADD(8, 2, 2, 3, 74);
	ck_assert_uint_eq(period().burst_ns, 7 * (uint64_t)MS);
	/* the border is far from both kinds of intervals */
	ck_assert_uint_gt(period().pause_ns, 10 * (uint64_t)MS);
	ck_assert_uint_lt(period().pause_ns, 20 * (uint64_t)MS);
}
END_TEST

START_TEST(bursts_of_different_sizes_show_nothing)
{
	ADD(4, 2, 2, 60, 2, 2, 2, 2, 60, 2, 60);
	ck_assert(!period().is_regular);
}
END_TEST

START_TEST(bursts_at_different_intervals_show_nothing)
{
	ADD(4, 2, 20, 2, 90, 2, 250);
	ck_assert(!period().is_regular);
}
END_TEST

START_TEST(intervals_without_a_border_between_short_and_long_show_nothing)
{
	ADD(6, 1, 2, 4, 7, 12, 20, 33);
	ck_assert(!period().is_regular);
}
END_TEST

START_TEST(few_calls_show_nothing)
{
	ADD(TP_PERIOD_CALLS_MIN - 2, 20);
	ck_assert(!period().is_regular);
	ck_assert_double_eq(period().rate_hz, 0);
	n_times = 0;
	ck_assert(!period().is_regular);
	n_times = 1;
	ck_assert(!period().is_regular);
}
END_TEST

START_TEST(few_bursts_show_nothing)
{
	ADD(TP_PERIOD_CALLS_MIN - 1, 2, 2, 74);
	ck_assert(!period().is_regular);
}
END_TEST

START_TEST(calls_at_one_instant_have_no_rate)
{
	ADD(20, 0);
	ck_assert(period().is_regular);
	ck_assert_double_eq(period().rate_hz, 0);
}
END_TEST

START_TEST(only_as_many_calls_as_fit_are_examined)
{
	ADD(TP_PERIOD_CALLS_MAX + 7, 1);
	ck_assert(period().is_regular);
	ck_assert_double_eq_tol(period().rate_hz, 1000, 0.01);
}
END_TEST

Suite *suite_collect_call_period(void);
Suite *suite_collect_call_period(void)
{
	Suite *suite = suite_create("collect/call_period");
	TCase *tc = tcase_create("call_period");
	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, equal_intervals_are_rounds);
	tcase_add_test(tc, bursts_of_equal_size_are_rounds);
	tcase_add_test(tc, pairs_are_bursts_however_many_calls_are_known);
	tcase_add_test(tc, pauses_that_are_hardly_longer_show_nothing);
	tcase_add_test(tc, a_burst_lasts_from_its_first_call_to_its_last);
	tcase_add_test(tc, bursts_of_different_sizes_show_nothing);
	tcase_add_test(tc, bursts_at_different_intervals_show_nothing);
	tcase_add_test(tc, intervals_without_a_border_between_short_and_long_show_nothing);
	tcase_add_test(tc, few_calls_show_nothing);
	tcase_add_test(tc, few_bursts_show_nothing);
	tcase_add_test(tc, calls_at_one_instant_have_no_rate);
	tcase_add_test(tc, only_as_many_calls_as_fit_are_examined);
	suite_add_tcase(suite, tc);
	return suite;
}
