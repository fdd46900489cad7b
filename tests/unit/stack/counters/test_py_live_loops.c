/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of when a loop is over. */
#include "stack/counters/py_live_loops.h"

#include <check.h>

enum { CODE = 0x1000, LOOP = 40, INNER = 60, SLOT = 7 };

static struct tp_py_live_loops loops;
static struct tp_python_counter ends[TP_PY_LIVE_LOOPS_MAX];

static void count_to(uint64_t value)
{
	const struct tp_python_counter counter = {.value = value, .total = 9};
	tp_py_live_loops_begin(&loops, true);
	tp_py_live_loops_note_counter(&loops, SLOT, CODE, LOOP, &counter);
	ck_assert_uint_eq(tp_py_live_loops_ends(&loops, ends, TP_PY_LIVE_LOOPS_MAX), 0);
}

static void setup(void)
{
	loops = (struct tp_py_live_loops){0};
	count_to(3);
}

static size_t n_ends(void)
{
	return tp_py_live_loops_ends(&loops, ends, TP_PY_LIVE_LOOPS_MAX);
}

START_TEST(a_loop_ends_when_its_function_returns)
{
	tp_py_live_loops_begin(&loops, true);
	ck_assert_uint_eq(n_ends(), 1);
	ck_assert_int_eq(ends[0].kind, TP_PYTHON_COUNTER_LOOP_END);
	ck_assert_uint_eq(ends[0].value, 3);
	ck_assert_uint_eq(ends[0].total, 0);
	tp_py_live_loops_begin(&loops, true);
	ck_assert_uint_eq(n_ends(), 0);
}
END_TEST

START_TEST(a_stack_that_changed_while_it_was_read_shows_no_end)
{
	tp_py_live_loops_begin(&loops, false);
	ck_assert_uint_eq(n_ends(), 0);
	tp_py_live_loops_begin(&loops, true);
	tp_py_live_loops_note_unknown(&loops);
	ck_assert_uint_eq(n_ends(), 0);
	tp_py_live_loops_begin(&loops, true);
	ck_assert_uint_eq(n_ends(), 1);
}
END_TEST

START_TEST(a_function_that_left_the_loop_shows_its_end_in_any_stack)
{
	tp_py_live_loops_begin(&loops, false);
	tp_py_live_loops_note_function(&loops, CODE);
	ck_assert_uint_eq(n_ends(), 1);
}
END_TEST

START_TEST(a_loop_continues_if_its_counter_was_not_read)
{
	tp_py_live_loops_begin(&loops, true);
	tp_py_live_loops_note_function(&loops, CODE);
	tp_py_live_loops_note_loop(&loops, CODE, LOOP);
	ck_assert_uint_eq(n_ends(), 0);
	tp_py_live_loops_begin(&loops, true);
	tp_py_live_loops_note_function(&loops, CODE);
	tp_py_live_loops_note_loop(&loops, CODE, INNER);
	ck_assert_uint_eq(n_ends(), 1);
}
END_TEST

START_TEST(an_end_without_room_is_emitted_later)
{
	tp_py_live_loops_begin(&loops, true);
	ck_assert_uint_eq(tp_py_live_loops_ends(&loops, ends, 0), 0);
	ck_assert_uint_eq(n_ends(), 1);
}
END_TEST

START_TEST(more_loops_than_fit_are_ignored)
{
	const struct tp_python_counter counter = {.value = 1};
	for (uint64_t slot = 0; slot < TP_PY_LIVE_LOOPS_MAX + 3; slot++)
		tp_py_live_loops_note_counter(&loops, slot, CODE, LOOP, &counter);
	tp_py_live_loops_begin(&loops, true);
	ck_assert_uint_eq(n_ends(), TP_PY_LIVE_LOOPS_MAX);
}
END_TEST

Suite *suite_stack_py_live_loops(void);
Suite *suite_stack_py_live_loops(void)
{
	Suite *suite = suite_create("stack_py_live_loops");
	TCase *tcase = tcase_create("py_live_loops");
	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, a_loop_ends_when_its_function_returns);
	tcase_add_test(tcase, a_stack_that_changed_while_it_was_read_shows_no_end);
	tcase_add_test(tcase, a_function_that_left_the_loop_shows_its_end_in_any_stack);
	tcase_add_test(tcase, a_loop_continues_if_its_counter_was_not_read);
	tcase_add_test(tcase, an_end_without_room_is_emitted_later);
	tcase_add_test(tcase, more_loops_than_fit_are_ignored);
	suite_add_tcase(suite, tcase);
	return suite;
}
