/* SPDX-License-Identifier: Apache-2.0 */
/* Alarms of a live view: when the limit or the step time changes, and only then. */
#include "trainprof/report/live_history.h"

#include <check.h>
#include <string.h>

static struct tp_live_history history;

static void begin(void)
{
	history = (struct tp_live_history){0};
}

/* Adds an interval with shares in percent of two parts, and a mean step time in ms (0: no step). */
static const char *add(unsigned compute, unsigned dataloader, double step_ms)
{
	struct tp_profile profile = {.total_ns = 100, .limiter = TP_PART_COMPUTE};
	profile.parts[TP_PART_COMPUTE].time_ns = compute;
	profile.parts[TP_PART_DATALOADER].time_ns = dataloader;
	if (dataloader > compute)
		profile.limiter = TP_PART_DATALOADER;
	if (step_ms > 0) {
		profile.is_of_steps = true;
		profile.step_time =
			(struct tp_stat){.n = 3, .mean = step_ms * 1e6, .max = step_ms * 2e6};
	}
	tp_live_history_add(&history, &profile, "14:03:11");
	return history.is_new ? history.alarm : "";
}

START_TEST(another_limit_gives_one_alarm)
{
	begin();
	ck_assert_str_eq(add(70, 30, 50), "");
	ck_assert_str_eq(add(60, 40, 50), "");
	ck_assert_str_eq(add(30, 70, 50),
			 "14:03:11  dataloader is the limit now, 70 %; before it was compute.");
	ck_assert_str_eq(add(30, 70, 50), "");
	ck_assert_str_eq(history.alarm,
			 "14:03:11  dataloader is the limit now, 70 %; before it was compute.");
}
END_TEST

START_TEST(two_parts_of_equal_size_give_no_alarm)
{
	begin();
	add(52, 48, 50);
	for (int i = 0; i < 10; i++) {
		ck_assert_str_eq(add(48, 52, 50), "");
		ck_assert_str_eq(add(52, 48, 50), "");
	}
}
END_TEST

START_TEST(slower_steps_give_one_alarm)
{
	begin();
	for (int i = 0; i < 5; i++)
		ck_assert_str_eq(add(70, 30, 50 + i), "");
	ck_assert_str_eq(add(70, 30, 77), "");
	ck_assert_str_eq(add(70, 30, 80), "14:03:11  Steps are slower: 80.0 ms, before 53.0 ms.");
	ck_assert_str_eq(add(70, 30, 90), "");
	ck_assert_str_eq(add(70, 30, 50), "");
	ck_assert_str_eq(add(70, 30, 100), "14:03:11  Steps are slower: 100 ms, before 53.0 ms.");
}
END_TEST

START_TEST(steps_that_stop_give_an_alarm_and_so_does_their_return)
{
	begin();
	for (int i = 0; i < 5; i++)
		add(70, 30, 50);
	ck_assert_str_eq(add(70, 30, 0), "14:03:11  No step was seen; before, one took 50.0 ms.");
	ck_assert_str_eq(add(70, 30, 0), "");
	ck_assert_str_eq(add(70, 30, 60), "14:03:11  Steps are seen again, 60.0 ms each.");
	ck_assert_str_eq(add(70, 30, 0), "");
}
END_TEST

/* Steps that are longer than an interval are seen in some intervals only. */
START_TEST(steps_seen_now_and_then_give_no_alarm)
{
	begin();
	for (int i = 0; i < 50; i++)
		ck_assert_str_eq(add(70, 30, i % 3 ? 0 : 2500), "");
}
END_TEST

START_TEST(no_thread_at_all_is_no_limit)
{
	begin();
	const struct tp_profile empty = {.limiter = TP_N_PARTS};
	tp_live_history_add(&history, &empty, "14:03:11");
	ck_assert_str_eq(history.alarm, "");
	ck_assert_str_eq(add(30, 70, 0), "");
	ck_assert_int_eq(history.items[0].limiter, TP_N_PARTS);
}
END_TEST

START_TEST(old_intervals_are_forgotten)
{
	begin();
	for (int i = 0; i < TP_LIVE_INTERVALS_MAX + 10; i++)
		add(70, 30, 1000 + i);
	ck_assert_uint_eq(history.n, TP_LIVE_INTERVALS_MAX);
	ck_assert_double_eq(history.items[0].step_ns, 1010e6);
	ck_assert_double_eq(history.items[history.n - 1].step_max_ns, 2 * 1265e6);
}
END_TEST

Suite *suite_report_live_history(void);
Suite *suite_report_live_history(void)
{
	Suite *suite = suite_create("report_live_history");
	TCase *tc = tcase_create("live_history");
	tcase_add_test(tc, another_limit_gives_one_alarm);
	tcase_add_test(tc, two_parts_of_equal_size_give_no_alarm);
	tcase_add_test(tc, slower_steps_give_one_alarm);
	tcase_add_test(tc, steps_that_stop_give_an_alarm_and_so_does_their_return);
	tcase_add_test(tc, steps_seen_now_and_then_give_no_alarm);
	tcase_add_test(tc, no_thread_at_all_is_no_limit);
	tcase_add_test(tc, old_intervals_are_forgotten);
	suite_add_tcase(suite, tc);
	return suite;
}
