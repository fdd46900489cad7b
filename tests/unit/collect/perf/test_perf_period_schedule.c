/* Claims about when periods are drawn, and the rate that is told. */
#include "collect/perf/perf_period_schedule.h"

#include "trainprof/base/clock.h"

#include <check.h>

#define MS(x)     ((uint64_t)(x)*TP_NS_PER_MS)
#define PERIOD_NS MS(10)

static struct tp_perf_pace pace;

static void setup(void)
{
	pace.seed = 7;
	tp_perf_pace_start(&pace, PERIOD_NS, MS(1000));
}

START_TEST(draws_are_due_after_some_samples_and_some_time)
{
	ck_assert(!tp_perf_pace_is_due(&pace, 2, MS(1100)));
	ck_assert(tp_perf_pace_is_due(&pace, 3, MS(1100)));
	tp_perf_pace_draw(&pace, 3, MS(1100));
	ck_assert(!tp_perf_pace_is_due(&pace, 30, MS(1129)));
	ck_assert(!tp_perf_pace_is_due(&pace, 5, MS(1200)));
	ck_assert(tp_perf_pace_is_due(&pace, 6, MS(1200)));
}
END_TEST

/* A draw begins the period anew: half of one is lost each time, on average. */
START_TEST(frequent_draws_keep_the_rate)
{
	uint64_t now_ns = MS(1000);
	uint64_t begun_ns = now_ns;
	uint64_t n = 0;
	uint64_t period_ns = PERIOD_NS;
	uint64_t seed = 1;
	while (now_ns < MS(101000)) {
		now_ns += TP_NS_PER_MS;
		if (now_ns - begun_ns >= period_ns) {
			begun_ns += period_ns;
			n++;
		}
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
		if (seed >> 60 == 0 &&
		    tp_perf_pace_is_due(&pace, n, now_ns)) { /* looks at random */
			period_ns = tp_perf_pace_draw(&pace, n, now_ns);
			begun_ns = now_ns;
		}
	}
	ck_assert_double_eq_tol((double)n / 100, 100, 5);
}
END_TEST

/* The time of a CPU goes on while the thread waits: what is between draws are periods then. */
START_TEST(draws_between_periods_keep_the_rate)
{
	uint64_t now_ns = MS(1000);
	uint64_t begun_ns = now_ns;
	uint64_t n = 0;
	uint64_t period_ns = PERIOD_NS;
	uint64_t seed = 1;
	while (now_ns < MS(101000)) {
		now_ns += TP_NS_PER_MS / 10;
		if (now_ns - begun_ns >= period_ns) {
			begun_ns += period_ns;
			n++;
		}
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
		uint64_t n_periods = (uint64_t)tp_perf_pace_periods(&pace, now_ns);
		if (seed >> 56 == 0 && tp_perf_pace_is_due(&pace, n_periods, now_ns)) {
			period_ns = tp_perf_pace_draw(&pace, n_periods, now_ns);
			begun_ns = now_ns;
		}
	}
	ck_assert_double_eq_tol(tp_perf_pace_periods(&pace, now_ns), 100 * 100, 1);
	ck_assert_double_eq_tol((double)n / 100, 100, 3);
}
END_TEST

START_TEST(rate_is_the_mean_over_what_the_governor_asked)
{
	tp_perf_pace_set_factor(&pace, 2, MS(2000));
	tp_perf_pace_set_factor(&pace, 4, MS(3000));
	ck_assert_double_eq_tol(tp_perf_pace_rate_hz(&pace, MS(5000)), (100 + 50 + 2 * 25) / 4.0,
				1e-6);
}
END_TEST

START_TEST(no_time_no_rate)
{
	ck_assert_double_eq(tp_perf_pace_rate_hz(&pace, MS(1000)), 0);
}
END_TEST

Suite *suite_collect_perf_period_schedule(void);
Suite *suite_collect_perf_period_schedule(void)
{
	Suite *suite = suite_create("collect/perf_pace");
	TCase *tcase = tcase_create("perf_pace");
	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, draws_are_due_after_some_samples_and_some_time);
	tcase_add_test(tcase, frequent_draws_keep_the_rate);
	tcase_add_test(tcase, draws_between_periods_keep_the_rate);
	tcase_add_test(tcase, rate_is_the_mean_over_what_the_governor_asked);
	tcase_add_test(tcase, no_time_no_rate);
	suite_add_tcase(suite, tcase);
	return suite;
}
