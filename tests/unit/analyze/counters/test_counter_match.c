/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of counters that count the same. */
#include "analyze/counters/counter_match.h"

#include <check.h>

enum { MAX_READINGS = 200 };

static struct tp_counter_reading readings[2][MAX_READINGS];
static struct tp_counter_series series[2];

static void setup(void)
{
	for (int i = 0; i < 2; i++)
		series[i] = (struct tp_counter_series){.readings = readings[i]};
}

static void put(int which, uint64_t time_ns, uint64_t value)
{
	readings[which][series[which].n++] =
		(struct tp_counter_reading){.mark_ns = time_ns, .value = value};
}

/* The loop counts 1 to 10 in each epoch; the argument is read in every third round. */
START_TEST(an_argument_counts_the_rounds_of_its_loop)
{
	for (uint64_t round = 0; round < 100; round++) {
		put(0, 20 * round, round % 10 + 1);
		if (round % 3 == 0)
			put(1, 20 * round + 15, round % 10);
	}
	ck_assert(tp_counter_series_match(&series[0], &series[1]));
	ck_assert(tp_counter_series_match(&series[1], &series[0]));
}
END_TEST

START_TEST(epochs_and_parts_count_something_else)
{
	for (uint64_t round = 0; round < 100; round++) {
		put(0, 20 * round, round % 10);
		if (round % (_i ? 10 : 2) == 0)
			put(1, 20 * round + 1, round / (_i ? 10 : 2));
	}
	ck_assert(!tp_counter_series_match(&series[0], &series[1]));
}
END_TEST

START_TEST(few_readings_show_nothing)
{
	for (uint64_t round = 0; round < 4; round++) {
		put(0, 20 * round, round);
		put(1, 20 * round, round);
	}
	ck_assert(!tp_counter_series_match(&series[0], &series[1]));
	series[0].n = 0;
	ck_assert(!tp_counter_series_match(&series[0], &series[1]));
}
END_TEST

Suite *suite_analyze_counter_match(void);
Suite *suite_analyze_counter_match(void)
{
	Suite *suite = suite_create("analyze_counter_match");
	TCase *tcase = tcase_create("counter_match");
	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, an_argument_counts_the_rounds_of_its_loop);
	tcase_add_loop_test(tcase, epochs_and_parts_count_something_else, 0, 2);
	tcase_add_test(tcase, few_readings_show_nothing);
	suite_add_tcase(suite, tcase);
	return suite;
}
