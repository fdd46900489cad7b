/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the texts for the cause of a blocked thread. */
#include "trainprof/model/cause_text.h"

#include <check.h>
#include <string.h>

START_TEST(each_cause_has_words_of_its_own)
{
	const char *unknown = tp_cause_text(TP_CAUSE_UNKNOWN);
	ck_assert_str_eq(unknown, "something unknown");
	ck_assert_str_eq(tp_cause_text(TP_N_CAUSES), unknown);
	for (int a = TP_CAUSE_FILE; a < TP_N_CAUSES; a++) {
		if (a == TP_CAUSE_OTHER)
			continue;
		ck_assert_str_ne(tp_cause_text((enum tp_cause)a), unknown);
		for (int b = TP_CAUSE_FILE; b < a; b++)
			ck_assert_str_ne(tp_cause_text((enum tp_cause)a),
					 tp_cause_text((enum tp_cause)b));
	}
}
END_TEST

Suite *suite_model_cause_text(void);
Suite *suite_model_cause_text(void)
{
	Suite *suite = suite_create("model_cause_text");
	TCase *tests = tcase_create("words");
	tcase_add_test(tests, each_cause_has_words_of_its_own);
	suite_add_tcase(suite, tests);
	return suite;
}
