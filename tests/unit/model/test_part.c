/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of parts and labels: six parts, every label in one of them, names that can be looked
 * up. */
#include "trainprof/model/part.h"

#include <check.h>
#include <stdio.h>

START_TEST(the_six_parts_are_in_the_order_of_reports)
{
	static const char *const names[] = {"compute",    "communication", "memory",
					    "dataloader", "host",          "idle"};
	ck_assert_int_eq(TP_N_PARTS, 6);
	for (unsigned i = 0; i < TP_N_PARTS; i++) {
		ck_assert_str_eq(tp_part_name((enum tp_part)i), names[i]);
		ck_assert_int_eq(tp_part_find(names[i]), i);
	}
	ck_assert_str_eq(tp_part_title(TP_PART_HOST), "Host");
	ck_assert_str_eq(tp_part_name(TP_N_PARTS), "none");
	ck_assert_int_eq(tp_part_find("gpu"), TP_N_PARTS);
}
END_TEST

START_TEST(every_label_is_listed_once_after_its_part)
{
	for (unsigned i = 0; i < TP_N_LABELS; i++) {
		char dotted[64];
		enum tp_part part = tp_label_part((enum tp_label)i);
		const char *name = tp_label_name((enum tp_label)i);
		snprintf(dotted, sizeof(dotted), "%s.%s", tp_part_name(part), name);
		ck_assert_msg(tp_label_find(dotted) == i, "%s is there twice", dotted);
	}
	ck_assert_int_eq(tp_label_find("dataloader.prep"), TP_LABEL_DATALOADER_PREP);
	ck_assert_int_eq(tp_label_find("host.prep"), TP_N_LABELS);
	ck_assert_int_eq(tp_label_find("prep"), TP_N_LABELS);
	ck_assert_int_eq(tp_label_find("dataloader"), TP_N_LABELS);
	ck_assert_int_eq(tp_label_find("dataloader."), TP_N_LABELS);
	ck_assert_int_eq(tp_label_find(""), TP_N_LABELS);
}
END_TEST

Suite *suite_model_part(void);
Suite *suite_model_part(void)
{
	Suite *suite = suite_create("model/part");
	TCase *tc = tcase_create("part");
	tcase_add_test(tc, the_six_parts_are_in_the_order_of_reports);
	tcase_add_test(tc, every_label_is_listed_once_after_its_part);
	suite_add_tcase(suite, tc);
	return suite;
}
