/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of clocks and dates. */
#include "trainprof/base/clock.h"

#include <check.h>
#include <time.h>

START_TEST(dates_are_utc_and_to_the_second)
{
	char text[32];
	tp_clock_format_utc(0, text, sizeof(text));
	ck_assert_str_eq(text, "1970-01-01T00:00:00Z");
	tp_clock_format_utc(UINT64_C(1795183391999999999), text, sizeof(text));
	ck_assert_str_eq(text, "2026-11-20T14:03:11Z");
	tp_clock_format_utc(UINT64_C(1709251199000000000), text, sizeof(text));
	ck_assert_str_eq(text, "2024-02-29T23:59:59Z");
	tp_clock_format_utc(UINT64_MAX, text, sizeof(text));
	ck_assert_str_eq(text, "2554-07-21T23:34:33Z");
}
END_TEST

START_TEST(the_clock_is_the_kernels_monotonic_one)
{
	struct timespec ts;
	uint64_t before_ns = tp_clock_now_ns();
	clock_gettime(CLOCK_MONOTONIC, &ts);
	uint64_t after_ns = tp_clock_now_ns();
	uint64_t now_ns = (uint64_t)ts.tv_sec * TP_NS_PER_S + (uint64_t)ts.tv_nsec;
	ck_assert(before_ns <= now_ns && now_ns <= after_ns);
}
END_TEST

START_TEST(own_cpu_time_is_the_kernels_account_and_grows_with_work)
{
	struct timespec ts;
	uint64_t before_ns = tp_clock_self_cpu_ns();
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	uint64_t after_ns = tp_clock_self_cpu_ns();
	uint64_t used_ns = (uint64_t)ts.tv_sec * TP_NS_PER_S + (uint64_t)ts.tv_nsec;
	ck_assert(before_ns <= used_ns && used_ns <= after_ns);
	volatile unsigned work = 0;
	while (tp_clock_self_cpu_ns() - before_ns < 20 * TP_NS_PER_MS)
		work = work + 1;
	ck_assert_uint_gt(work, 0);
}
END_TEST

Suite *suite_base_clock(void);
Suite *suite_base_clock(void)
{
	Suite *suite = suite_create("base/clock");
	TCase *tc = tcase_create("clock");
	tcase_add_test(tc, dates_are_utc_and_to_the_second);
	tcase_add_test(tc, the_clock_is_the_kernels_monotonic_one);
	tcase_add_test(tc, own_cpu_time_is_the_kernels_account_and_grows_with_work);
	suite_add_tcase(suite, tc);
	return suite;
}
