/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of parsing the names of counters. */
#include "analyze/counters/counter_name.h"

#include "analyze/shippedpatterns.h"

#include <stdio.h>
#include <string.h>

#define FUNCTION "/home/me/a (1)/train.py:20 Trainer.fit.<locals>.run() "

static const struct {
	const char *label;
	struct tp_counter_name says;
} rows[] = {
	{"for loop over a range at line 24, variable epoch",
	 {.line = 24, .is_position = true, .is_range = true, .meaning = TP_COUNTS_EPOCHS}},
	{"for loop at line 31, variable layer",
	 {.line = 31, .is_position = true, .meaning = TP_COUNTS_PARTS}},
	{"for loop at line 31", {.line = 31, .is_position = true}},
	{"_num_yielded of the for loop at line 31, variable epoch",
	 {.line = 31, .meaning = TP_COUNTS_BATCHES}},
	{"self.state.global_step", {.meaning = TP_COUNTS_STEPS}},
	{"it._num_yielded", {.meaning = TP_COUNTS_BATCHES}},
	{"self._num_yielded", {0}},
	{"#3.current_epoch", {.meaning = TP_COUNTS_EPOCHS}},
	{"step", {.meaning = TP_COUNTS_STEPS}},
	{"#3", {0}},
};

START_TEST(a_name_says_where_and_what_is_counted)
{
	char text[160];
	struct tp_counter_name name;
	snprintf(text, sizeof(text), "%s%s", FUNCTION, rows[_i].label);
	tp_counter_name_parse(&name, text, patterns);
	ck_assert_uint_eq(name.function_len, strlen(FUNCTION) - strlen("() "));
	ck_assert_uint_eq(name.line, rows[_i].says.line);
	ck_assert(name.is_position == rows[_i].says.is_position);
	ck_assert(name.is_range == rows[_i].says.is_range);
	ck_assert_int_eq(name.meaning, rows[_i].says.meaning);
}
END_TEST

START_TEST(counters_of_one_function_are_known)
{
	struct tp_counter_name a;
	struct tp_counter_name b;
	tp_counter_name_parse(&a, FUNCTION "step", NULL);
	tp_counter_name_parse(&b, FUNCTION "for loop at line 4", NULL);
	ck_assert(tp_counter_name_has_same_function(&a, &b));
	tp_counter_name_parse(&b, "train.py:4 main() step", NULL);
	ck_assert(!tp_counter_name_has_same_function(&a, &b));
	tp_counter_name_parse(&b, "nothing of that form", NULL);
	ck_assert_uint_eq(b.function_len, 0);
	ck_assert(!tp_counter_name_has_same_function(&b, &b));
}
END_TEST

Suite *suite_analyze_counter_name(void);
Suite *suite_analyze_counter_name(void)
{
	Suite *suite = suite_create("analyze/counter_name");
	TCase *tc = tcase_create("counter_name");
	tcase_add_unchecked_fixture(tc, load, unload);
	tcase_add_loop_test(tc, a_name_says_where_and_what_is_counted, 0,
			    sizeof(rows) / sizeof(rows[0]));
	tcase_add_test(tc, counters_of_one_function_are_known);
	suite_add_tcase(suite, tc);
	return suite;
}
