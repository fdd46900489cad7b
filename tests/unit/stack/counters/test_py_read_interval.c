/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of how often something is read again. */
#include "stack/counters/py_read_interval.h"

#include <check.h>

/* Meets the place `n` times without a change; returns how often it was read, and the longest wait
 * in sightings. */
static unsigned meet(struct tp_py_read_interval *interval, unsigned n, unsigned *longest)
{
	unsigned n_read = 0;
	unsigned wait = 0;
	*longest = 0;
	for (unsigned i = 0; i < n; i++) {
		wait++;
		if (tp_py_read_interval_is_due(interval)) {
			*longest = wait > *longest ? wait : *longest;
			wait = 0;
			n_read++;
			tp_py_read_interval_read(interval, false);
		} else {
			tp_py_read_interval_skip(interval);
		}
	}
	*longest = wait > *longest ? wait : *longest;
	return n_read;
}

START_TEST(what_is_new_or_changes_is_read_each_time)
{
	unsigned longest;
	struct tp_py_read_interval interval = {0};
	ck_assert_uint_eq(meet(&interval, 16, &longest), 16);
	interval = (struct tp_py_read_interval){0};
	for (int i = 0; i < 1000; i++) {
		ck_assert(tp_py_read_interval_is_due(&interval));
		tp_py_read_interval_read(&interval, true);
	}
	meet(&interval, 5000, &longest);
	ck_assert(!tp_py_read_interval_is_due(&interval));
	tp_py_read_interval_read(&interval, true);
	ck_assert_uint_eq(meet(&interval, 16, &longest), 16);
}
END_TEST

/* After 16 readings in a row each wait is a sixteenth of the age, so the age grows by
 * 17 / 16 with each: n sightings have 16 + log(n / 16) / log(17 / 16) of them, 84 of 1,000, or some
 * less since waits are whole numbers. */
START_TEST(what_does_not_change_is_read_ever_less_often)
{
	unsigned longest;
	struct tp_py_read_interval interval = {0};
	unsigned n = meet(&interval, 1000, &longest);
	ck_assert_uint_ge(n, 70);
	ck_assert_uint_le(n, 84);
	ck_assert_uint_le(longest, 1000 / 16 + 1);
}
END_TEST

START_TEST(no_wait_is_longer_than_the_limit)
{
	unsigned longest;
	struct tp_py_read_interval interval = {0};
	meet(&interval, 100000, &longest);
	ck_assert_uint_eq(longest, TP_PY_READ_INTERVAL_MAX_WAIT + 1);
	unsigned n = meet(&interval, 65000, &longest);
	ck_assert_uint_ge(n, 65000 / (TP_PY_READ_INTERVAL_MAX_WAIT + 1) - 1);
}
END_TEST

Suite *suite_stack_py_read_interval(void);
Suite *suite_stack_py_read_interval(void)
{
	Suite *suite = suite_create("stack/pypace");
	TCase *tc = tcase_create("pypace");
	tcase_add_test(tc, what_is_new_or_changes_is_read_each_time);
	tcase_add_test(tc, what_does_not_change_is_read_ever_less_often);
	tcase_add_test(tc, no_wait_is_longer_than_the_limit);
	suite_add_tcase(suite, tc);
	return suite;
}
