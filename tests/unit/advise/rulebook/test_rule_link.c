/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the references between rules, and how they are resolved. */
#include "advise/shelfbook.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

START_TEST(rings_of_rules_are_refused)
{
	shelf_put_rule(&shelf, "a", "step.count > 1", ", \"parent\": \"test/b\"");
	shelf_put_rule(&shelf, "b", "step.count > 1", ", \"yields_to\": [\"test/c\"]");
	shelf_put_rule(&shelf, "c", "step.count > 1", "");
	load_anew();
	tp_rulebook_free(book);
	book = NULL;
	shelf_put_rule(&shelf, "c", "step.count > 1", ", \"yields_to\": [\"test/b\"]");
	ck_assert_int_eq(shelf_load(&shelf, &book, &err), TP_PARSE);
	ck_assert_ptr_nonnull(strstr(err.text, "lead back to this rule"));
	shelf_put_rule(&shelf, "c", "step.count > 1", "");
	shelf_put_rule(&shelf, "b", "step.count > 1", ", \"parent\": \"test/a\"");
	ck_assert_int_eq(shelf_load(&shelf, &book, &err), TP_PARSE);
	ck_assert_ptr_nonnull(strstr(err.text, "lead back to this rule"));
}
END_TEST

START_TEST(limits_that_a_rule_names_exist)
{
	shelf_put_rule(&shelf, "a", "step.count > 1", ", \"limits\": [\"wait\", \"dsik\"]");
	load_anew(); /* there is no guide to compare with */
	tp_rulebook_free(book);
	book = NULL;
	shelf_put_guide(&shelf);
	ck_assert_int_eq(shelf_load(&shelf, &book, &err), TP_PARSE);
	ck_assert_ptr_nonnull(
		strstr(err.text, "a.json: 'limits' names no limit 'dsik'; nearest: disk"));
}
END_TEST

START_TEST(a_digest_says_what_a_rule_finds_and_advises)
{
	shelf_put_guide(&shelf);
	shelf_put_advice(&shelf, "a", "step.count > 1", "\"technique\": \"fast\"",
			 ", \"limits\": [\"wait\"]");
	shelf_put_advice(&shelf, "b", "step.count > 1", "\"id\": \"fasten\"", "");
	load_anew();
	struct tp_rule_digest digest = tp_rulebook_digest(book, 0);
	ck_assert_str_eq(digest.id, "test/a");
	ck_assert_uint_eq(digest.n_limits, 1);
	ck_assert_str_eq(digest.limits[0], "wait");
	ck_assert(!digest.is_verdict);
	ck_assert(tp_rulebook_advises(book, 0, "fast"));
	ck_assert(!tp_rulebook_advises(book, 0, "slow"));
	ck_assert(!tp_rulebook_advises(book, 1, "fasten")); /* no technique has that name */
}
END_TEST

Suite *suite_advise_rule_link(void);
Suite *suite_advise_rule_link(void)
{
	Suite *suite = suite_create("advise_rulelink");
	TCase *tcase = tcase_create("rulelink");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, rings_of_rules_are_refused);
	tcase_add_test(tcase, limits_that_a_rule_names_exist);
	tcase_add_test(tcase, a_digest_says_what_a_rule_finds_and_advises);
	suite_add_tcase(suite, tcase);
	return suite;
}
