/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of sampling periods: no loop stays in step with them, and drawing new ones keeps the
 * rate. */
#include "collect/perf/perf_period.h"

#include "trainprof/base/clock.h"

#include <check.h>
#include <math.h>
#include <stdbool.h>

#define PERIOD_NS 10101010u /* 99 Hz */

START_TEST(periods_lie_around_the_asked_one_and_keep_the_rate)
{
	uint64_t seed = 42;
	double rate_hz = 0;
	for (uint32_t n = 0; n < 1000; n++) {
		double ratio = PERIOD_NS / (double)tp_perf_period(PERIOD_NS, seed, n);
		ck_assert_double_ge(ratio, 1 - TP_PERF_JITTER_RATIO);
		ck_assert_double_le(ratio, 1 + TP_PERF_JITTER_RATIO);
		rate_hz += 1e9 / (double)tp_perf_period(PERIOD_NS, seed, n);
	}
	ck_assert_double_eq_tol(rate_hz / 1000, 99, 0.5);
}
END_TEST

START_TEST(random_numbers_use_all_bits)
{
	uint64_t seed = 1;
	uint64_t ones = 0;
	uint64_t zeros = 0;
	for (int i = 0; i < 100; i++) {
		uint64_t number = tp_perf_random(&seed);
		ones |= number;
		zeros |= ~number;
	}
	ck_assert_uint_eq(ones, UINT64_MAX);
	ck_assert_uint_eq(zeros, UINT64_MAX);
}
END_TEST

/* Simulates a busy thread in a loop of loop_ns, the first 30 % of which are one phase, sampled as
 * the collector does: a poll every 10 to 30 ms draws a new period if it found samples. Returns the
 * sampled share of the phase over ten minutes; *pairs is the share of neighbouring samples that are
 * both in the phase. */
static double sampled_share(double loop_ns, uint64_t seed, double *pairs)
{
	const double end_ns = 600e9;
	double time_ns = 0;
	double look_ns = 20e6;
	double period_ns = (double)tp_perf_period(PERIOD_NS, seed, 0);
	uint32_t n_drawn = 1;
	uint64_t random = seed;
	uint64_t n = 0;
	uint64_t n_hit = 0;
	uint64_t n_pairs = 0;
	bool was_hit = false;
	bool is_news = false;
	while (time_ns < end_ns) {
		if (time_ns + period_ns > look_ns) {
			if (is_news) {
				period_ns = (double)tp_perf_period(PERIOD_NS, seed, n_drawn++);
				time_ns = look_ns; /* the kernel restarts the period */
			}
			is_news = false;
			look_ns += 10e6 + (double)(tp_perf_random(&random) % 20000001);
			continue;
		}
		time_ns += period_ns;
		bool is_hit = fmod(time_ns, loop_ns) < 0.3 * loop_ns;
		n++;
		n_hit += is_hit;
		n_pairs += is_hit && was_hit;
		was_hit = is_hit;
		is_news = true;
	}
	*pairs = (double)n_pairs / (double)n;
	return (double)n_hit / (double)n;
}

START_TEST(no_loop_is_in_step_with_sampling)
{
	static const double loops[] = {PERIOD_NS,
				       PERIOD_NS / 2.0,
				       PERIOD_NS * 2.0,
				       PERIOD_NS / 3,
				       PERIOD_NS * 1.5,
				       10e6,
				       5e6,
				       50e6,
				       PERIOD_NS * 0.9,
				       PERIOD_NS * 1.1};
	for (uint64_t seed = 1; seed <= 3; seed++) {
		double pairs;
		double share = sampled_share(loops[_i], seed * UINT64_C(0x123456789abcdef), &pairs);
		ck_assert_double_eq_tol(share, 0.3, 0.01);
	}
}
END_TEST

START_TEST(a_loop_about_as_long_as_the_period_does_not_look_slow)
{
	/* Neighbouring samples of a loop that is slow compared to the period share their phase
	 * nearly always (0.3); independent ones rarely (0.09). Beats would look like a slow
	 * loop. */
	double pairs;
	for (int percent = 92; percent <= 108; percent += 4) {
		sampled_share(PERIOD_NS * percent / 100.0, 7, &pairs);
		ck_assert_msg(pairs < 0.17, "loop of %d %% of the period: %.3f", percent, pairs);
	}
	sampled_share(PERIOD_NS * 30.0, 7, &pairs);
	ck_assert_double_gt(pairs, 0.25);
}
END_TEST

/* A later thread keeps its period for all n samples. */
static double share_of_a_later_thread(double loop_ns, uint64_t seed, int n)
{
	double period_ns = (double)tp_perf_period(PERIOD_NS, seed, 0);
	int n_hit = 0;
	for (int i = 0; i < n; i++)
		n_hit += fmod(i * period_ns + (double)(seed % PERIOD_NS), loop_ns) < 0.3 * loop_ns;
	return (double)n_hit / n;
}

START_TEST(later_threads_get_true_shares_in_loops_that_fit_the_asked_rate)
{
	static const double loops_ns[] = {PERIOD_NS, PERIOD_NS / 2.0, PERIOD_NS * 2.0,
					  PERIOD_NS * 3.0};
	for (uint64_t seed = 1; seed <= 100; seed++)
		ck_assert_double_eq_tol(share_of_a_later_thread(loops_ns[_i],
								seed * UINT64_C(0x123456789abcdef),
								1000),
					0.3, 0.01);
}
END_TEST

START_TEST(without_redrawing_a_loop_could_be_in_step)
{
	/* The control: shows that the test above can fail. */
	uint64_t n_hit = 0;
	for (int n = 0; n < 1000; n++)
		n_hit += fmod(n * (double)PERIOD_NS + 1e6, PERIOD_NS) < 0.3 * PERIOD_NS;
	ck_assert_uint_eq(n_hit, 1000);
}
END_TEST

#define MS(x)   ((uint64_t)(x)*TP_NS_PER_MS)
#define PACE_NS MS(10)

static struct tp_perf_period_schedule pace;

static void setup(void)
{
	pace.seed = 7;
	tp_perf_period_schedule_start(&pace, PACE_NS, MS(1000));
}

START_TEST(draws_are_due_after_some_samples_and_some_time)
{
	ck_assert(!tp_perf_period_schedule_is_due(&pace, 2, MS(1100)));
	ck_assert(tp_perf_period_schedule_is_due(&pace, 3, MS(1100)));
	tp_perf_period_schedule_draw(&pace, 3, MS(1100));
	ck_assert(!tp_perf_period_schedule_is_due(&pace, 30, MS(1129)));
	ck_assert(!tp_perf_period_schedule_is_due(&pace, 5, MS(1200)));
	ck_assert(tp_perf_period_schedule_is_due(&pace, 6, MS(1200)));
}
END_TEST

/* A draw restarts the period: half of one is lost each time, on average. */
START_TEST(frequent_draws_keep_the_rate)
{
	uint64_t now_ns = MS(1000);
	uint64_t begun_ns = now_ns;
	uint64_t n = 0;
	uint64_t period_ns = PACE_NS;
	uint64_t seed = 1;
	while (now_ns < MS(101000)) {
		now_ns += TP_NS_PER_MS;
		if (now_ns - begun_ns >= period_ns) {
			begun_ns += period_ns;
			n++;
		}
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
		if (seed >> 60 == 0 &&
		    tp_perf_period_schedule_is_due(&pace, n, now_ns)) { /* polls at random times */
			period_ns = tp_perf_period_schedule_draw(&pace, n, now_ns);
			begun_ns = now_ns;
		}
	}
	ck_assert_double_eq_tol((double)n / 100, 100, 5);
}
END_TEST

/* The clock of a CPU continues while the thread waits: draws happen between complete periods
 * then. */
START_TEST(draws_between_periods_keep_the_rate)
{
	uint64_t now_ns = MS(1000);
	uint64_t begun_ns = now_ns;
	uint64_t n = 0;
	uint64_t period_ns = PACE_NS;
	uint64_t seed = 1;
	while (now_ns < MS(101000)) {
		now_ns += TP_NS_PER_MS / 10;
		if (now_ns - begun_ns >= period_ns) {
			begun_ns += period_ns;
			n++;
		}
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
		uint64_t n_periods = (uint64_t)tp_perf_period_schedule_periods(&pace, now_ns);
		if (seed >> 56 == 0 && tp_perf_period_schedule_is_due(&pace, n_periods, now_ns)) {
			period_ns = tp_perf_period_schedule_draw(&pace, n_periods, now_ns);
			begun_ns = now_ns;
		}
	}
	ck_assert_double_eq_tol(tp_perf_period_schedule_periods(&pace, now_ns), 100 * 100, 1);
	ck_assert_double_eq_tol((double)n / 100, 100, 3);
}
END_TEST

START_TEST(rate_is_the_mean_over_what_the_governor_asked)
{
	tp_perf_period_schedule_set_factor(&pace, 2, MS(2000));
	tp_perf_period_schedule_set_factor(&pace, 4, MS(3000));
	ck_assert_double_eq_tol(tp_perf_period_schedule_rate_hz(&pace, MS(5000)),
				(100 + 50 + 2 * 25) / 4.0, 1e-6);
}
END_TEST

START_TEST(no_time_no_rate)
{
	ck_assert_double_eq(tp_perf_period_schedule_rate_hz(&pace, MS(1000)), 0);
}
END_TEST

Suite *suite_collect_perf_period(void);
Suite *suite_collect_perf_period(void)
{
	Suite *suite = suite_create("collect/perf_jitter");
	TCase *tc = tcase_create("perf_jitter");
	tcase_add_test(tc, periods_lie_around_the_asked_one_and_keep_the_rate);
	tcase_add_test(tc, random_numbers_use_all_bits);
	tcase_add_loop_test(tc, no_loop_is_in_step_with_sampling, 0, 10);
	tcase_add_test(tc, a_loop_about_as_long_as_the_period_does_not_look_slow);
	tcase_add_loop_test(tc, later_threads_get_true_shares_in_loops_that_fit_the_asked_rate, 0,
			    4);
	tcase_add_test(tc, without_redrawing_a_loop_could_be_in_step);
	suite_add_tcase(suite, tc);
	TCase *tcase = tcase_create("pace");
	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, draws_are_due_after_some_samples_and_some_time);
	tcase_add_test(tcase, frequent_draws_keep_the_rate);
	tcase_add_test(tcase, draws_between_periods_keep_the_rate);
	tcase_add_test(tcase, rate_is_the_mean_over_what_the_governor_asked);
	tcase_add_test(tcase, no_time_no_rate);
	suite_add_tcase(suite, tcase);
	return suite;
}
