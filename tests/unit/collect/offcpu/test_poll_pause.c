/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the time between polls, with made-up times. */
#include "collect/offcpu/poll_pause.h"

#include "trainprof/base/clock.h"

#include <check.h>

static struct tp_poll_pause poll_pause;

static void setup(void)
{
	poll_pause = (struct tp_poll_pause){.random = 1};
}

/* Checks the mean of the next 1,000 pauses, and that each is within half of it. */
static void check_pauses(double rate_hz, double cpu_share, double expected_ms)
{
	double sum_ms = 0;
	for (int i = 0; i < 1000; i++) {
		double ms = (double)tp_poll_pause_next_ns(&poll_pause, rate_hz, cpu_share) / 1e6;
		ck_assert_double_ge(ms, 0.5 * expected_ms);
		ck_assert_double_le(ms, 1.5 * expected_ms + 1e-5);
		sum_ms += ms;
	}
	ck_assert_double_eq_tol(sum_ms / 1000, expected_ms, 0.03 * expected_ms);
}

static void poll(int n, bool has_new_wait)
{
	for (int i = 0; i < n; i++)
		tp_poll_pause_add(&poll_pause, 0, has_new_wait);
}

START_TEST(pauses_are_longer_while_nothing_new_is_found)
{
	check_pauses(50, 0, 20);
	poll(9, false);
	check_pauses(50, 0, 20);
	poll(1, false);
	check_pauses(50, 0, 80);
	poll_pause.is_crowded = true;
	check_pauses(50, 0, 40);
	poll(1, true);
	check_pauses(50, 0, 20);
}
END_TEST

START_TEST(dear_polls_are_rarer)
{
	for (int i = 0; i < 100; i++)
		tp_poll_pause_add(&poll_pause, 1e6, true);
	check_pauses(50, 0.01, 100);
	check_pauses(50, 0.5, 20);
	check_pauses(50, 0, 20);
}
END_TEST

START_TEST(a_pause_is_at_most_a_second)
{
	for (int i = 0; i < 100; i++)
		ck_assert_uint_le(tp_poll_pause_next_ns(&poll_pause, 0, 0), TP_NS_PER_S + 1);
}
END_TEST

/* Threads of a pool without work, for example: a thread waits from 0.5 s on, and is polled each
 * 20 ms. The wait is new once, and emitted each second. */
START_TEST(a_wait_that_lasts_does_not_ask_for_more_polls)
{
	struct tp_emitted_wait last = {0};
	unsigned n_new = 0;
	unsigned n_emitted = 0;
	for (int i = 0; i < 300; i++) {
		uint64_t now_ns = TP_NS_PER_S / 2 + (uint64_t)i * 20 * TP_NS_PER_MS;
		bool is_known = tp_emitted_wait_lasts(&last, 7, TP_STATE_BLOCKED);
		if (!is_known || !tp_emitted_wait_is_current(&last, now_ns)) {
			last = (struct tp_emitted_wait){7, now_ns, TP_STATE_BLOCKED};
			n_emitted++;
		}
		n_new += !is_known;
		tp_poll_pause_add(&poll_pause, 0, !is_known);
	}
	ck_assert_uint_eq(n_new, 1);
	ck_assert_uint_eq(n_emitted, 6);
	ck_assert_uint_eq(poll_pause.n_quiet, 299);
}
END_TEST

START_TEST(another_run_or_state_is_another_wait)
{
	const struct tp_emitted_wait last = {7, TP_NS_PER_S, TP_STATE_BLOCKED};
	ck_assert(tp_emitted_wait_lasts(&last, 7, TP_STATE_BLOCKED));
	ck_assert(!tp_emitted_wait_lasts(&last, 8, TP_STATE_BLOCKED));
	ck_assert(!tp_emitted_wait_lasts(&last, 7, TP_STATE_RUNNABLE));
	const struct tp_emitted_wait none = {0};
	ck_assert(!tp_emitted_wait_lasts(&none, 0, none.state));
}
END_TEST

Suite *suite_collect_poll_pause(void);
Suite *suite_collect_poll_pause(void)
{
	Suite *suite = suite_create("collect/poll_pause");
	TCase *tc = tcase_create("poll_pause");
	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, pauses_are_longer_while_nothing_new_is_found);
	tcase_add_test(tc, dear_polls_are_rarer);
	tcase_add_test(tc, a_pause_is_at_most_a_second);
	tcase_add_test(tc, a_wait_that_lasts_does_not_ask_for_more_polls);
	tcase_add_test(tc, another_run_or_state_is_another_wait);
	suite_add_tcase(suite, tc);
	return suite;
}
