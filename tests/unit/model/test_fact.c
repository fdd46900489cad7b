/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the vocabulary: each name is found, units are known, typing mistakes find the right
 * name. */
#include "trainprof/model/fact.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

START_TEST(every_fact_is_found_by_its_name_alone)
{
	for (int i = 0; i < TP_N_FACTS; i++) {
		const struct tp_fact_desc *desc = tp_fact_desc((enum tp_fact)i);
		ck_assert_msg((int)tp_fact_find(desc->name) == i, "'%s' is there twice",
			      desc->name);
		ck_assert_uint_gt(strlen(desc->text), 5);
	}
	ck_assert_int_eq(tp_fact_find(""), TP_N_FACTS);
	ck_assert_int_eq(tp_fact_find("step"), TP_N_FACTS);
}
END_TEST

START_TEST(the_share_of_each_part_is_a_fact)
{
	for (int part = 0; part < TP_N_PARTS; part++) {
		char name[64];
		snprintf(name, sizeof(name), "step.%s_ratio", tp_part_name((enum tp_part)part));
		ck_assert_str_eq(tp_fact_desc(tp_part_facts[part])->name, name);
	}
}
END_TEST

/* Names include their unit, so that the author of a rule cannot mistake ns for a share. */
START_TEST(a_name_ends_as_its_unit_does)
{
	static const struct {
		const char *ending;
		const char *unit;
	} endings[] = {{"_ns", "ns"},     {"_ratio", "ratio"}, {"bytes_per_s", "bytes_per_s"},
		       {"_cpus", "cpus"}, {"_bytes", "bytes"}, {"_w", "w"},
		       {"_j", "j"}};
	static const char *const units[] = {"ns",    "ratio", "bytes",       "1", "bool",
					    "per_s", "cpus",  "bytes_per_s", "w", "j"};
	for (int i = 0; i < TP_N_FACTS; i++) {
		const struct tp_fact_desc *desc = tp_fact_desc((enum tp_fact)i);
		bool known = false;
		for (size_t j = 0; j < sizeof(units) / sizeof(units[0]); j++)
			known |= strcmp(desc->unit, units[j]) == 0;
		ck_assert_msg(known, "%s has the unit '%s'", desc->name, desc->unit);
		size_t len = strlen(desc->name);
		for (size_t j = 0; j < sizeof(endings) / sizeof(endings[0]); j++) {
			size_t tail = strlen(endings[j].ending);
			if (len > tail && strcmp(desc->name + len - tail, endings[j].ending) == 0)
				ck_assert_msg(strcmp(desc->unit, endings[j].unit) == 0,
					      "%s is in '%s'", desc->name, desc->unit);
		}
	}
}
END_TEST

START_TEST(a_typing_mistake_finds_what_was_meant)
{
	ck_assert_str_eq(tp_fact_closest("step.tiem_ns"), "step.time_ns");
	ck_assert_str_eq(tp_fact_closest("loader.worker"), "loader.workers");
	ck_assert_ptr_null(tp_fact_closest("zzzzzzzzzz"));
}
END_TEST

START_TEST(facts_entered_by_hand_are_distinguished_from_measured_ones)
{
	static const char *const told[] = {"data.", "job.", "link.", "model.", "forecast."};
	for (int i = 0; i < TP_N_FACTS; i++) {
		const char *name = tp_fact_desc((enum tp_fact)i)->name;
		bool is_told = i == TP_FACT_GPU_MEM_RATE;
		for (size_t k = 0; k < sizeof(told) / sizeof(told[0]); k++)
			is_told |= strncmp(name, told[k], strlen(told[k])) == 0;
		ck_assert_msg(tp_fact_is_user_supplied((enum tp_fact)i) == is_told, "%s", name);
	}
	ck_assert(!tp_fact_is_user_supplied(TP_N_FACTS));
}
END_TEST

Suite *suite_model_fact(void);
Suite *suite_model_fact(void)
{
	Suite *suite = suite_create("model/fact");
	TCase *tc = tcase_create("fact");
	tcase_add_test(tc, every_fact_is_found_by_its_name_alone);
	tcase_add_test(tc, the_share_of_each_part_is_a_fact);
	tcase_add_test(tc, a_name_ends_as_its_unit_does);
	tcase_add_test(tc, a_typing_mistake_finds_what_was_meant);
	tcase_add_test(tc, facts_entered_by_hand_are_distinguished_from_measured_ones);
	suite_add_tcase(suite, tc);
	return suite;
}
