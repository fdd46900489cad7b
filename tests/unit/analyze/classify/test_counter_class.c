/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of classifying counters by their names. */
#include "analyze/classify/counter_class.h"

#include "analyze/patternfolder.h"
#include "analyze/shippedpatterns.h"

static const struct {
	const char *name;
	bool is_attribute;
	enum tp_counter_meaning meaning;
} rows[] = {
	{"_num_yielded", true, TP_COUNTS_BATCHES}, {"global_step", true, TP_COUNTS_STEPS},
	{"current_epoch", true, TP_COUNTS_EPOCHS}, {"epoch", false, TP_COUNTS_EPOCHS},
	{"Epoch_Idx", false, TP_COUNTS_EPOCHS},    {"layer_idx", false, TP_COUNTS_PARTS},
	{"step", false, TP_COUNTS_STEPS},          {"_num_yielded", false, TP_COUNTS_UNKNOWN},
	{"i", false, TP_COUNTS_UNKNOWN},           {"", false, TP_COUNTS_UNKNOWN},
};

START_TEST(names_of_counters_have_a_meaning)
{
	ck_assert_int_eq(tp_counter_meaning_find(patterns, rows[_i].is_attribute, rows[_i].name),
			 rows[_i].meaning);
	ck_assert_int_eq(tp_counter_meaning_find(NULL, rows[_i].is_attribute, rows[_i].name),
			 TP_COUNTS_UNKNOWN);
}
END_TEST

START_TEST(rows_that_make_no_sense_are_refused)
{
	assert_refused("{ \"counts\": \"steps\" }",
		       ":2: a row of counters is about one of 'variable, attribute'");
	assert_refused("{ \"counts\": \"step\", \"variable\": [\"i\"] }",
		       ":2: unknown word 'step'; nearest: steps");
	assert_refused("{ \"counts\": \"steps\", \"variables\": [\"i\"] }",
		       ":2: unknown key 'variables'; nearest: variable");
}
END_TEST

Suite *suite_analyze_counter_class(void);
Suite *suite_analyze_counter_class(void)
{
	Suite *suite = suite_create("analyze/counter_class");
	TCase *tc = tcase_create("counter_class");
	tcase_add_unchecked_fixture(tc, load, unload);
	tcase_add_loop_test(tc, names_of_counters_have_a_meaning, 0,
			    sizeof(rows) / sizeof(rows[0]));
	tcase_add_test(tc, rows_that_make_no_sense_are_refused);
	suite_add_tcase(suite, tc);
	return suite;
}
