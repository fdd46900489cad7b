/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of interned strings. */
#include "trainprof/base/strtab.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

START_TEST(equal_texts_get_equal_ids_and_keep_their_text)
{
	struct tp_strtab tab;
	tp_strtab_init(&tab);
	enum { N = 20000 };
	for (unsigned i = 0; i < 2 * N; i++) {
		char text[32];
		snprintf(text, sizeof(text), "name %u", i % N);
		ck_assert_uint_eq(tp_strtab_intern(&tab, text), i % N + 1);
	}
	ck_assert_uint_eq(tab.n, N + 1);
	for (unsigned i = 0; i < N; i++) {
		char text[32];
		snprintf(text, sizeof(text), "name %u", i);
		if (strcmp(tp_strtab_text(&tab, i + 1), text) != 0)
			ck_abort_msg("id %u is '%s'", i + 1, tp_strtab_text(&tab, i + 1));
	}
	tp_strtab_release(&tab);
}
END_TEST

START_TEST(the_empty_text_is_0_and_unknown_ids_are_empty)
{
	struct tp_strtab tab;
	tp_strtab_init(&tab);
	ck_assert_uint_eq(tp_strtab_intern(&tab, ""), 0);
	ck_assert_uint_eq(tp_strtab_intern_len(&tab, "abc", 0), 0);
	ck_assert_str_eq(tp_strtab_text(&tab, 0), "");
	ck_assert_str_eq(tp_strtab_text(&tab, 1), "");
	ck_assert_str_eq(tp_strtab_text(&tab, UINT32_MAX), "");
	tp_strtab_release(&tab);
}
END_TEST

START_TEST(a_part_of_a_text_is_the_text_of_that_part)
{
	struct tp_strtab tab;
	tp_strtab_init(&tab);
	uint32_t id = tp_strtab_intern_len(&tab, "forward()", 7);
	ck_assert_str_eq(tp_strtab_text(&tab, id), "forward");
	ck_assert_uint_eq(tp_strtab_intern(&tab, "forward"), id);
	ck_assert_uint_eq(tp_strtab_intern_len(&tab, "forward", 100), id);
	ck_assert_uint_ne(tp_strtab_intern(&tab, "forwar"), id);
	tp_strtab_release(&tab);
}
END_TEST

Suite *suite_base_strtab(void);
Suite *suite_base_strtab(void)
{
	Suite *suite = suite_create("base/strtab");
	TCase *tc = tcase_create("strtab");
	tcase_add_test(tc, equal_texts_get_equal_ids_and_keep_their_text);
	tcase_add_test(tc, the_empty_text_is_0_and_unknown_ids_are_empty);
	tcase_add_test(tc, a_part_of_a_text_is_the_text_of_that_part);
	suite_add_tcase(suite, tc);
	return suite;
}
