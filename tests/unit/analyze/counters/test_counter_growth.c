/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of variables that grow faster than they are read. */
#include "analyze/counters/counter_growth.h"

#include <check.h>
#include <stdlib.h>

enum { N = 100 };

static struct tp_counter_reading readings[N];
static struct tp_counter_series series;
static struct tp_cpu_clock no_clock;

/* Sampling periods are drawn at random; so are these, from 5 to 15 ms. */
static double next_ms(unsigned *seed)
{
	*seed = *seed * 1103515245 + 12345;
	return 5 + (double)(*seed >> 16 & 1023) / 102.3;
}

/* Reads a variable at N times; value_at() returns its value at a time. */
static void read_variable(uint64_t (*value_at)(double ms))
{
	unsigned seed = 1;
	double ms = 0;
	series = (struct tp_counter_series){.readings = readings};
	while (series.n < N) {
		uint64_t value = value_at(ms += next_ms(&seed));
		if (series.n && readings[series.n - 1].value == value)
			continue;
		readings[series.n++] = (struct tp_counter_reading){.value = value,
								   .mark_ns = (uint64_t)(ms * 1e6)};
	}
}

static uint64_t each_2_ms(double ms)
{
	return (uint64_t)(ms / 2);
}

static uint64_t each_9_ms(double ms)
{
	return (uint64_t)(ms / 9);
}

static uint64_t by_8_each_20_ms(double ms)
{
	return 8 * (uint64_t)(ms / 20);
}

/* Eight at once, one of them later than the others. */
static uint64_t by_7_and_1_each_20_ms(double ms)
{
	uint64_t rounds = (uint64_t)(ms / 20);
	return 8 * rounds + (ms - 20 * (double)rounds > 3);
}

/* Work of 0.1 s each second. */
static uint64_t in_bursts(double ms)
{
	double rest = ms - 1000 * (double)(uint64_t)(ms / 1000);
	return 50 * (uint64_t)(ms / 1000) + (uint64_t)((rest < 100 ? rest : 100) / 2);
}

START_TEST(growth_in_proportion_to_time_is_steady)
{
	read_variable(each_2_ms);
	ck_assert(tp_counter_growth_is_steady(&series, &no_clock));
	read_variable(each_9_ms);
	ck_assert(tp_counter_growth_is_steady(&series, &no_clock));
}
END_TEST

START_TEST(growth_in_groups_or_in_bursts_is_not_steady)
{
	read_variable(by_8_each_20_ms);
	ck_assert(!tp_counter_growth_is_steady(&series, &no_clock));
	read_variable(by_7_and_1_each_20_ms);
	ck_assert(!tp_counter_growth_is_steady(&series, &no_clock));
	read_variable(in_bursts);
	ck_assert(!tp_counter_growth_is_steady(&series, &no_clock));
}
END_TEST

/* An epoch is 0.4 s, a batch 10 ms of samples. */
static uint64_t each_2_ms_of_an_epoch(double ms)
{
	return (uint64_t)(ms - 400 * (double)(uint64_t)(ms / 400)) / 2;
}

static uint64_t each_ms_of_a_batch(double ms)
{
	return (uint64_t)(ms - 10 * (double)(uint64_t)(ms / 10));
}

START_TEST(rare_restarts_are_allowed)
{
	read_variable(each_2_ms_of_an_epoch);
	ck_assert(tp_counter_growth_is_steady(&series, &no_clock));
	read_variable(each_ms_of_a_batch);
	ck_assert(!tp_counter_growth_is_steady(&series, &no_clock));
}
END_TEST

START_TEST(too_few_readings_show_nothing)
{
	read_variable(each_2_ms);
	series.n = 10;
	ck_assert(!tp_counter_growth_is_steady(&series, &no_clock));
	series.n = 0;
	ck_assert(!tp_counter_growth_is_steady(&series, &no_clock));
}
END_TEST

/* The thread runs in the first half of each second only. */
static uint64_t cpu_ms(double ms)
{
	double rest = ms - 1000 * (double)(uint64_t)(ms / 1000);
	return (uint64_t)((500 * (double)(uint64_t)(ms / 1000) + (rest < 500 ? rest : 500)) / 3);
}

START_TEST(growth_in_proportion_to_cpu_time_is_steady)
{
	struct tp_run runs[8] = {0};
	uint64_t before_ns[8];
	struct tp_cpu_clock clock = {.runs = runs, .n = 8, .before_ns = before_ns};
	for (uint64_t i = 0; i < 8; i++) {
		runs[i].start_ns = i * 1000000000;
		runs[i].end_ns = runs[i].start_ns + 500000000;
		before_ns[i] = i * 500000000;
	}
	read_variable(cpu_ms);
	ck_assert(tp_counter_growth_is_steady(&series, &clock));
}
END_TEST

Suite *suite_analyze_counter_growth(void);
Suite *suite_analyze_counter_growth(void)
{
	Suite *suite = suite_create("analyze/counter_growth");
	TCase *tc = tcase_create("counter_growth");
	tcase_add_test(tc, growth_in_proportion_to_time_is_steady);
	tcase_add_test(tc, growth_in_groups_or_in_bursts_is_not_steady);
	tcase_add_test(tc, rare_restarts_are_allowed);
	tcase_add_test(tc, too_few_readings_show_nothing);
	tcase_add_test(tc, growth_in_proportion_to_cpu_time_is_steady);
	suite_add_tcase(suite, tc);
	return suite;
}
