/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of errors of a rulebook as a whole. */
#include "advise/shelfbook.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct tp_buf problems;

/* Returns the number of problems; their texts are in `problems`. */
static size_t checked(void)
{
	load_anew();
	tp_buf_clear(&problems);
	return tp_rulebook_check(book, &problems);
}

static void check_reports(const char *text)
{
	ck_assert_msg(strstr(tp_buf_text(&problems), text) != NULL, "'%s' instead of '%s'",
		      tp_buf_text(&problems), text);
}

START_TEST(a_whole_guide_has_no_problem)
{
	shelf_put_guide(&shelf);
	shelf_put_advice(&shelf, "a", "step.count > 1", "\"technique\": \"fast\"", "");
	shelf_put_advice(&shelf, "b", "step.count > 1", "\"id\": \"own-thing\"", "");
	ck_assert_uint_eq(checked(), 0);
	ck_assert_str_eq(tp_buf_text(&problems), "");
	tp_buf_release(&problems);
}
END_TEST

START_TEST(an_action_names_a_technique_that_exists)
{
	shelf_put_guide(&shelf);
	shelf_put_advice(&shelf, "a", "step.count > 1", "\"technique\": \"fsat\"", "");
	ck_assert_uint_eq(checked(), 1);
	check_reports("bottlenecks/test/a.json:4: no technique 'fsat'; nearest: fast\n");
	shelf_put_advice(&shelf, "a", "step.count > 1", "\"id\": \"fast\"", "");
	ck_assert_uint_eq(checked(), 1);
	check_reports("a.json:4: 'fast' is a technique: 'technique', not 'id'\n");
	tp_buf_release(&problems);
}
END_TEST

START_TEST(without_techniques_no_names_are_compared)
{
	shelf_put_advice(&shelf, "a", "step.count > 1", "\"technique\": \"fsat\"", "");
	ck_assert_uint_eq(checked(), 0);
	tp_buf_release(&problems);
}
END_TEST

START_TEST(dead_parts_of_the_guide_are_found)
{
	shelf_put_guide(&shelf);
	shelf_put_changed(&shelf, "techniques/slow.json", shelf_slow, "[\"wait\"]", "[]");
	ck_assert_uint_eq(checked(), 1);
	check_reports("slow.json: dead: it relieves no limit, and no rule advises it\n");
	shelf_put_advice(&shelf, "a", "step.count > 1", "\"technique\": \"slow\"", "");
	ck_assert_uint_eq(checked(), 0);
	shelf_put_changed(&shelf, "techniques/fast.json", shelf_fast, "[\"wait\", \"disk\"]",
			  "[\"wait\"]");
	ck_assert_uint_eq(checked(), 1);
	check_reports("limits.json:2: no technique relieves 'disk'\n");
	shelf_put_changed(&shelf, "techniques/fast.json", shelf_fast, "\"BOOK\"", "\"AMPS\"");
	ck_assert_uint_eq(checked(), 1);
	check_reports("sources.json:3: nothing cites 'BOOK'\n");
	shelf_put(&shelf, "pages.json",
		  "{\"pages\": [{\"id\": \"p\", \"title\": \"P\", \"cites\": [\"BOOK\"]}]}");
	ck_assert_uint_eq(checked(), 0);
	tp_buf_release(&problems);
}
END_TEST

START_TEST(methods_with_fewer_iterations_need_a_comparison)
{
	shelf_put_guide(&shelf);
	shelf_put_changed(&shelf, "techniques/slow.json", shelf_slow, "\"against\": \"fast\", ",
			  "");
	ck_assert_uint_eq(checked(), 1);
	check_reports("slow.json: it changes the number of iterations, and 'against' does not say "
		      "what it "
		      "is to be compared with\n");
	shelf_put_changed(&shelf, "techniques/fast.json", shelf_fast, "\"reduces\": \"iteration\"",
			  "\"reduces\": \"iterations\"");
	ck_assert_uint_eq(checked(), 2);
	/* A technique that serves as a yardstick needs none itself. */
	shelf_put(&shelf, "techniques/slow.json", shelf_slow);
	ck_assert_uint_eq(checked(), 0);
	tp_buf_release(&problems);
}
END_TEST

Suite *suite_advise_book_check(void);
Suite *suite_advise_book_check(void)
{
	Suite *suite = suite_create("advise_bookcheck");
	TCase *tcase = tcase_create("bookcheck");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, a_whole_guide_has_no_problem);
	tcase_add_test(tcase, an_action_names_a_technique_that_exists);
	tcase_add_test(tcase, without_techniques_no_names_are_compared);
	tcase_add_test(tcase, dead_parts_of_the_guide_are_found);
	tcase_add_test(tcase, methods_with_fewer_iterations_need_a_comparison);
	suite_add_tcase(suite, tcase);
	return suite;
}
