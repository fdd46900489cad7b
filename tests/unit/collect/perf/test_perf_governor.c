/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the overhead budget, with simulated programs and simulated time. */
#include "collect/perf/perf_governor.h"

#include "trainprof/base/clock.h"

#include <check.h>

enum { LEAVE_EVERY = 16 };
#define USUAL_TICK_NS (20 * TP_NS_PER_MS) /* wake-ups by other parts of the loop */

static const struct tp_perf_cost cost = {.sample_ns = 14000, .switch_ns = 1000, .record_ns = 800};
static uint64_t switches[2];
static struct tp_perf_usage usage;
static struct tp_perf_governor governor;
static unsigned seen; /* all orders so far */
static uint64_t off_ns;
static double stacks_share; /* share of stacks in our CPU time at full detail */

static void setup(void)
{
	switches[0] = switches[1] = 0;
	usage = (struct tp_perf_usage){.now_ns = 5 * TP_NS_PER_S, .n_switches = switches};
	tp_perf_governor_init(&governor, 20000, 0.01, &cost, 2, &usage);
	seen = 0;
	off_ns = 0;
	stacks_share = 1;
}

static void teardown(void)
{
	tp_perf_governor_release(&governor);
}

/* Lets time pass in ticks of 20 ms, or shorter ones if the governor asks for them. Switch records
 * are counted only while they are on. */
static void play(double seconds, double switch_hz, double sample_hz, double self_ratio)
{
	uint64_t tick_ns;
	for (uint64_t ns = 0; ns < (uint64_t)(seconds * 1e9); ns += tick_ns) {
		uint64_t period_ns = tp_perf_governor_period_ns(&governor);
		tick_ns = period_ns < USUAL_TICK_NS ? period_ns : USUAL_TICK_NS;
		double tick_s = (double)tick_ns * 1e-9;
		usage.now_ns += tick_ns;
		if (governor.has_switches)
			switches[1] += (uint64_t)(switch_hz * tick_s);
		if (governor.has_leaves)
			usage.n_leavings += (uint64_t)(switch_hz * tick_s / LEAVE_EVERY);
		if (!governor.has_switches)
			off_ns += tick_ns;
		double rate_hz = sample_hz / governor.period_factor;
		usage.n_samples += (uint64_t)(rate_hz * tick_s);
		usage.target_cpu_ns += tick_ns;
		double self_ns = (double)tick_ns * self_ratio;
		double stacks_ns =
			self_ns * stacks_share / governor.keep_one_in / governor.period_factor;
		usage.stacks_ns += (uint64_t)stacks_ns;
		usage.self_cpu_ns += (uint64_t)(stacks_ns + self_ns * (1 - stacks_share));
		seen |= tp_perf_governor_tick(&governor, &usage);
	}
}

START_TEST(calm_program_gets_full_detail)
{
	double ratio;
	play(60, 15000, 100, 0.004);
	ck_assert_uint_eq(seen, 0);
	ck_assert(!tp_perf_governor_has_failed(&governor, &ratio));
	ck_assert(governor.has_switches);
	ck_assert_uint_eq(governor.keep_one_in, 1);
}
END_TEST

START_TEST(too_many_switches_go_off_and_looks_get_rarer)
{
	play(60, 60000, 100, 0.004);
	ck_assert(seen & TP_PERF_SWITCHES_OFF);
	ck_assert(seen & TP_PERF_SWITCHES_ON);
	ck_assert_double_gt((double)off_ns / 60e9, 0.95);
}
END_TEST

START_TEST(look_ends_as_soon_as_it_has_seen_too_many)
{
	play(0.5, 60000, 100, 0.004);
	ck_assert(!governor.has_switches);
	off_ns = 0;
	seen = 0;
	play(3.5, 60000, 100, 0.004); /* pauses of 1 and 2 s */
	ck_assert(seen & TP_PERF_SWITCHES_ON);
	ck_assert(!governor.has_switches);
	/* The budget of 0.1 s is used up after 33 ms. */
	ck_assert_uint_ge(off_ns, (3500 - 2 * 40) * TP_NS_PER_MS);
}
END_TEST

START_TEST(governor_is_in_a_hurry_only_while_too_many_may_come)
{
	uint64_t usual_ns = tp_perf_governor_period_ns(&governor);
	for (int i = 0; i < 100; i++) {
		play(0.1, 15000, 100, 0.004);
		ck_assert_uint_eq(tp_perf_governor_period_ns(&governor), usual_ns);
	}
	play(0.1, 60000, 100, 0.004);
	ck_assert_uint_lt(tp_perf_governor_period_ns(&governor), usual_ns);
	play(0.3, 60000, 100, 0.004);
	ck_assert(!governor.has_switches);
	ck_assert_uint_eq(tp_perf_governor_period_ns(&governor), usual_ns);
	while (!governor.has_switches)
		play(0.02, 1000, 100, 0.004);
	ck_assert_uint_lt(tp_perf_governor_period_ns(&governor), usual_ns);
	play(1, 1000, 100, 0.004);
	ck_assert(governor.has_switches);
	ck_assert_uint_eq(tp_perf_governor_period_ns(&governor), usual_ns);
}
END_TEST

START_TEST(second_look_at_too_many_asks_for_events_that_cost_switches_nothing)
{
	play(0.9, 60000, 100, 0.004);
	ck_assert_uint_eq(seen, TP_PERF_SWITCHES_OFF);
	play(0.5, 60000, 100, 0.004);
	ck_assert(seen & TP_PERF_GO_SYSTEM_WIDE);
}
END_TEST

START_TEST(one_storm_asks_for_no_other_events)
{
	play(0.9, 60000, 100, 0.004);
	ck_assert(seen & TP_PERF_SWITCHES_OFF);
	play(20, 1000, 100, 0.004);
	ck_assert(!(seen & TP_PERF_GO_SYSTEM_WIDE));
}
END_TEST

START_TEST(switches_come_back_when_they_are_few_again)
{
	play(2, 60000, 100, 0.004);
	ck_assert(!governor.has_switches);
	play(10, 1000, 100, 0.004);
	ck_assert(governor.has_switches);
	seen = 0;
	play(10, 1000, 100, 0.004);
	ck_assert_uint_eq(seen, 0);
}
END_TEST

START_TEST(burst_shorter_than_the_window_is_borne)
{
	for (int i = 0; i < 10; i++) {
		play(0.1, 60000, 100, 0.004);
		play(1.4, 100, 100, 0.004);
	}
	ck_assert_uint_eq(seen, 0);
}
END_TEST

START_TEST(burst_of_many_more_switches_is_borne_less_long)
{
	play(0.2, 100000, 100, 0.004); /* in 0.1 s as many as the limit allows in 0.5 s */
	ck_assert(seen & TP_PERF_SWITCHES_OFF);
	ck_assert_uint_ge(off_ns, 60 * TP_NS_PER_MS);
}
END_TEST

START_TEST(own_cost_above_the_budget_lowers_the_rate_before_it_thins_stacks)
{
	play(4, 1000, 100, 0.018);
	ck_assert(seen & TP_PERF_DETAIL);
	ck_assert_uint_eq(governor.keep_one_in, 1);
	ck_assert_uint_ge(governor.period_factor, 2);
}
END_TEST

START_TEST(samples_above_the_budget_lower_the_rate_in_the_end)
{
	play(60, 1000, 2000, 0.002);
	ck_assert_uint_ge(governor.period_factor, 2);
	ck_assert_double_le(governor.last_ratio, 0.0101);
}
END_TEST

/* One order, at the end of the second window: by then it was known what had to be reduced. */
START_TEST(level_that_fits_is_taken_at_once)
{
	play(4.1, 1000, 100, 0.034);
	ck_assert_uint_eq(governor.period_factor, 2);
	ck_assert_uint_eq(governor.keep_one_in, 2);
	seen = 0;
	play(60, 1000, 100, 0.034);
	ck_assert_uint_eq(seen, 0);
	ck_assert_double_le(governor.last_ratio, 0.01);
}
END_TEST

/* Stacks are cheap: leaving out callers would save next to nothing. */
START_TEST(what_saves_nothing_is_not_given_up)
{
	stacks_share = 0;
	play(60, 1000, 400, 0.006);
	ck_assert_uint_eq(governor.keep_one_in, 1);
	ck_assert_uint_eq(governor.period_factor, 2);
	ck_assert_double_le(governor.last_ratio, 0.01);
	play(60, 1000, 1000, 0.006);
	ck_assert_uint_eq(governor.keep_one_in, 1);
	ck_assert_uint_eq(governor.period_factor, 4);
}
END_TEST

/* The cost is twice the budget, and no level reduces it. */
START_TEST(budget_that_cannot_be_kept_takes_no_detail_for_nothing)
{
	double ratio;
	stacks_share = 0;
	play(10, 1000, 100, 0.02);
	ck_assert(!tp_perf_governor_has_failed(&governor, &ratio)); /* too short to report that */
	play(50, 1000, 100, 0.02);
	ck_assert_uint_eq(seen, 0);
	ck_assert(tp_perf_governor_has_failed(&governor, &ratio));
	ck_assert_double_eq_tol(ratio, 0.0214, 0.0002);
	play(60, 1000, 1000, 0.02);
	ck_assert_uint_eq(governor.keep_one_in, 1);
	ck_assert_uint_eq(governor.period_factor, 4);
}
END_TEST

START_TEST(half_the_rate_is_kept_before_stacks_are)
{
	play(60, 1000, 100, 0.06);
	ck_assert_uint_eq(governor.period_factor, 2);
	ck_assert_uint_eq(governor.keep_one_in, 4);
	ck_assert_double_le(governor.last_ratio, 0.01);
	double ratio;
	ck_assert(!tp_perf_governor_has_failed(&governor, &ratio));
}
END_TEST

START_TEST(detail_comes_back_when_the_target_calms_down)
{
	play(10, 1000, 100, 0.04);
	ck_assert_uint_gt(governor.level, 0);
	play(120, 1000, 20, 0.001);
	ck_assert_uint_eq(governor.level, 0);
	ck_assert_uint_eq(governor.keep_one_in, 1);
}
END_TEST

START_TEST(first_seconds_are_not_judged)
{
	play(2, 1000, 100, 0.05); /* symbols and tables are loaded */
	play(6, 1000, 100, 0.002);
	ck_assert(!(seen & TP_PERF_DETAIL));
}
END_TEST

START_TEST(one_window_a_little_above_the_budget_is_borne_two_are_not)
{
	for (int i = 0; i < 5; i++) {
		play(2, 1000, 100, 0.011);
		play(2, 1000, 100, 0.007);
	}
	ck_assert(!(seen & TP_PERF_DETAIL));
	play(6, 1000, 100, 0.011);
	ck_assert(seen & TP_PERF_DETAIL);
	ck_assert_uint_eq(governor.level, 1);
}
END_TEST

START_TEST(tighter_budget_allows_fewer_switches)
{
	tp_perf_governor_release(&governor);
	tp_perf_governor_init(&governor, 20000, 0.001, &cost, 2, &usage);
	play(20, 10000, 10, 0.0001); /* 0.8 % */
	ck_assert(seen & TP_PERF_SWITCHES_OFF);
}
END_TEST

START_TEST(leaving_threads_are_sampled_while_switches_are_few)
{
	play(2, 1500, 100, 0.004);
	ck_assert(tp_perf_governor_switch_out(&governor, LEAVE_EVERY));
	play(2, 3000, 100, 0.004);
	ck_assert(tp_perf_governor_switch_out(&governor, LEAVE_EVERY));
	play(2, 4000, 100, 0.004);
	ck_assert(!tp_perf_governor_switch_out(&governor, LEAVE_EVERY));
	play(2, 2000, 100, 0.004);
	ck_assert(!tp_perf_governor_switch_out(&governor, LEAVE_EVERY));
	play(2, 1500, 100, 0.004);
	ck_assert(tp_perf_governor_switch_out(&governor, LEAVE_EVERY));
	play(20, 60000, 100, 0.004);
	ck_assert(!tp_perf_governor_switch_out(&governor, LEAVE_EVERY));
}
END_TEST

START_TEST(burst_of_leaving_threads_ends_their_samples_at_once)
{
	play(2, 1500, 100, 0.004);
	ck_assert(tp_perf_governor_switch_out(&governor, LEAVE_EVERY));
	uint64_t before = usage.n_leavings;
	seen = 0;
	play(0.4, 16000, 100,
	     0.004); /* 1000 samples per second at switches: less than the limit so far */
	ck_assert_uint_eq(seen, TP_PERF_SWITCH_OUT_OFF);
	ck_assert(!governor.has_leaves);
	ck_assert_uint_le(usage.n_leavings - before, 140);
	/* The rates so far are those from before. */
	ck_assert(!tp_perf_governor_switch_out(&governor, LEAVE_EVERY));
	play(2, 1500, 100, 0.004);
	ck_assert(tp_perf_governor_switch_out(&governor, LEAVE_EVERY));
}
END_TEST

START_TEST(without_switch_records_none_are_asked_for)
{
	tp_perf_governor_no_switches(&governor);
	play(100, 0, 100, 0.004);
	ck_assert_uint_eq(seen, 0);
}
END_TEST

Suite *suite_collect_perf_governor(void);
Suite *suite_collect_perf_governor(void)
{
	Suite *suite = suite_create("collect/perf_governor");
	TCase *tc = tcase_create("perf_governor");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, calm_program_gets_full_detail);
	tcase_add_test(tc, too_many_switches_go_off_and_looks_get_rarer);
	tcase_add_test(tc, look_ends_as_soon_as_it_has_seen_too_many);
	tcase_add_test(tc, governor_is_in_a_hurry_only_while_too_many_may_come);
	tcase_add_test(tc, second_look_at_too_many_asks_for_events_that_cost_switches_nothing);
	tcase_add_test(tc, one_storm_asks_for_no_other_events);
	tcase_add_test(tc, switches_come_back_when_they_are_few_again);
	tcase_add_test(tc, burst_shorter_than_the_window_is_borne);
	tcase_add_test(tc, burst_of_many_more_switches_is_borne_less_long);
	tcase_add_test(tc, own_cost_above_the_budget_lowers_the_rate_before_it_thins_stacks);
	tcase_add_test(tc, samples_above_the_budget_lower_the_rate_in_the_end);
	tcase_add_test(tc, level_that_fits_is_taken_at_once);
	tcase_add_test(tc, what_saves_nothing_is_not_given_up);
	tcase_add_test(tc, budget_that_cannot_be_kept_takes_no_detail_for_nothing);
	tcase_add_test(tc, half_the_rate_is_kept_before_stacks_are);
	tcase_add_test(tc, detail_comes_back_when_the_target_calms_down);
	tcase_add_test(tc, first_seconds_are_not_judged);
	tcase_add_test(tc, one_window_a_little_above_the_budget_is_borne_two_are_not);
	tcase_add_test(tc, tighter_budget_allows_fewer_switches);
	tcase_add_test(tc, leaving_threads_are_sampled_while_switches_are_few);
	tcase_add_test(tc, burst_of_leaving_threads_ends_their_samples_at_once);
	tcase_add_test(tc, without_switch_records_none_are_asked_for);
	suite_add_tcase(suite, tc);
	return suite;
}
