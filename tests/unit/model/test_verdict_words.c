/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the words of verdicts: plain words for every part, found by cause. */
#include "trainprof/model/verdict_words.h"

#include <check.h>
#include <string.h>

START_TEST(a_cause_is_found_with_its_class_and_its_title)
{
	const struct tp_verdict_words *words = tp_verdict_words_find("not_enough_cpu");
	ck_assert_ptr_nonnull(words);
	ck_assert_str_eq(words->id, "idle_bound");
	ck_assert_str_eq(words->title, "NOT ENOUGH CPU");
	ck_assert_ptr_null(tp_verdict_words_find("cpu"));
	ck_assert_ptr_null(tp_verdict_words_find(NULL));
}
END_TEST

START_TEST(every_part_has_words_that_are_no_category)
{
	for (int part = 0; part < TP_N_PARTS; part++) {
		for (int of_devices = 0; of_devices < 2; of_devices++) {
			const struct tp_verdict_words *words =
				tp_verdict_words_of_part((enum tp_part)part, of_devices);
			ck_assert_ptr_nonnull(words);
			ck_assert_ptr_null(strstr(words->title, "BOUND"));
			const char *name = tp_part_name((enum tp_part)part);
			ck_assert_int_eq(strncmp(words->id, name, strlen(name)), 0);
		}
		ck_assert_uint_gt(strlen(tp_verdict_words_limit((enum tp_part)part)), 0);
	}
}
END_TEST

Suite *suite_model_verdict_words(void);
Suite *suite_model_verdict_words(void)
{
	Suite *suite = suite_create("model/verdict_words");
	TCase *tc = tcase_create("all");
	tcase_add_test(tc, a_cause_is_found_with_its_class_and_its_title);
	tcase_add_test(tc, every_part_has_words_that_are_no_category);
	suite_add_tcase(suite, tc);
	return suite;
}
