/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the interval at which the agent checks if another tool is done. */
#include "agent/cupti/retry_backoff.h"

#include <check.h>

static const uint64_t SECOND_NS = 1000000000;

START_TEST(without_another_tool_there_is_no_backoff)
{
	struct tp_retry_backoff aside = {0};
	ck_assert(tp_retry_backoff_can_try(&aside, 5));
	tp_retry_backoff_note_open(&aside);
	ck_assert_int_eq(aside.n_returns, 0);
}
END_TEST

START_TEST(it_tries_after_30_s_and_then_ever_more_rarely)
{
	struct tp_retry_backoff aside = {0};
	static const uint64_t pauses_s[] = {30, 60, 120, 240, 480, 480, 480};
	uint64_t now_ns = 7 * SECOND_NS;
	for (size_t i = 0; i < sizeof(pauses_s) / sizeof(pauses_s[0]); i++) {
		ck_assert(tp_retry_backoff_note_in_use(&aside, now_ns));
		ck_assert(!tp_retry_backoff_can_try(&aside, now_ns + pauses_s[i] * SECOND_NS - 1));
		now_ns += pauses_s[i] * SECOND_NS;
		ck_assert(tp_retry_backoff_can_try(&aside, now_ns));
	}
}
END_TEST

START_TEST(after_three_returns_it_stays_away)
{
	struct tp_retry_backoff aside = {0};
	uint64_t now_ns = SECOND_NS;
	for (int i = 0; i < 3; i++) {
		ck_assert(tp_retry_backoff_note_in_use(&aside, now_ns));
		now_ns += 30 * SECOND_NS; /* after a return the pauses are short again */
		ck_assert(tp_retry_backoff_can_try(&aside, now_ns));
		tp_retry_backoff_note_open(&aside);
		tp_retry_backoff_note_open(&aside); /* consecutive windows: one return */
		ck_assert_int_eq(aside.n_returns, i + 1);
	}
	ck_assert(!tp_retry_backoff_note_in_use(&aside, now_ns));
}
END_TEST

Suite *suite_agent_retry_backoff(void);
Suite *suite_agent_retry_backoff(void)
{
	Suite *suite = suite_create("agent/standaside");
	TCase *tc = tcase_create("standaside");
	tcase_add_test(tc, without_another_tool_there_is_no_backoff);
	tcase_add_test(tc, it_tries_after_30_s_and_then_ever_more_rarely);
	tcase_add_test(tc, after_three_returns_it_stays_away);
	suite_add_tcase(suite, tc);
	return suite;
}
