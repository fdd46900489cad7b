/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of loading rules: which ones are refused, and with which message. */
#include "advise/shelfbook.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

START_TEST(rules_of_all_families_are_found_and_sorted)
{
	shelf_put_rule(&shelf, "b", "step.count > 1", "");
	shelf_put_rule(&shelf, "a", "step.count > 1", "");
	shelf_put(&shelf, "bottlenecks/test/notes.txt", "no rule");
	shelf_put(&shelf, "bottlenecks/README", "no family");
	load_anew();
	ck_assert_uint_eq(tp_rulebook_count(book), 2);
	ck_assert_str_eq(book->rules[0].id, "test/a");
	ck_assert_str_eq(book->rules[1].id, "test/b");
}
END_TEST

START_TEST(a_later_directory_replaces_rules_and_thresholds)
{
	struct shelf own;
	shelf_open(&own);
	shelf_put(&shelf, "thresholds.json",
		  "{\"thresholds\": [{\"name\": \"x\", \"value\": \"5%\", \"why\": \"w\"}]}");
	shelf_put_rule(&shelf, "a", "step.compute_ratio > $x", "");
	shelf_put(&own, "thresholds.json",
		  "{\"thresholds\": [{\"name\": \"x\", \"value\": \"50%\", \"why\": \"w\"}]}");
	shelf_put_rule(&own, "a", "step.compute_ratio < $x", "");
	shelf_put_rule(&own, "b", "step.compute_ratio < $x", "");
	const char *paths[] = {shelf.path, own.path};
	enum tp_status status = tp_rulebook_load(&book, paths, 2, &err);
	shelf_close(&own);
	ck_assert_msg(!status, "%s", err.text);
	ck_assert_uint_eq(tp_rulebook_count(book), 2);
	ck_assert_str_eq(book->rules[0].when[0].written, "step.compute_ratio < $x");
	ck_assert_double_eq(tp_thresholds_value(&book->thresholds, "x", 0), 0.5);
}
END_TEST

START_TEST(mistakes_name_file_and_line)
{
	static const struct {
		const char *when;
		const char *members;
		const char *said;
	} rows[] = {
		{"step.cuont > 1", "", "a.json:2: no fact 'step.cuont'; nearest: step.count"},
		{"step.count > 1ms", "", "a.json:2: a number does not compare with a time"},
		{"step.count > 1", ", \"levle\": {}", "no key 'levle'; nearest: level"},
		{"step.count > 1", ", \"level\": {\"hihg\": \"true\"}",
		 "no key 'hihg'; nearest: high"},
		{"step.count > 1", ", \"parent\": \"test/x\"", "'parent' names no rule 'test/x'"},
		{"step.count > 1", ", \"yields_to\": [\"test/a\"]", "lead back to this rule"},
		{"step.count > 1", ", \"confidence\": \"sure\"",
		 "'confidence' is high, medium or low"},
		{"step.count > 1", ", \"refute\": \"{step.time_ns}\"",
		 "'step.time_ns' is used but not in 'needs'"},
		{"step.count > 1",
		 ", \"gain\": {\"part\": \"gpu\", \"fraction\": \"1\", \"method\": \"m\"}",
		 "no part 'gpu'"},
		{"step.count > 1",
		 ", \"gain\": {\"part\": \"idle\", \"of\": \"1\", \"method\": \"m\"}",
		 "a gain has 'part' and 'fraction', or 'of'"},
		{"step.count > 1",
		 ", \"gain\": {\"part\": \"idle\", \"fraction\": \"2ms\", \"method\": \"m\"}",
		 "a plain number is needed here, not a time"},
		{"step.count > 1",
		 ", \"cases\": [{\"facts\": {\"step.count\": \"2ms\"}, \"fires\": true}]",
		 "'step.count' is in 1, as 4 or a plain number: this is a time"},
		{"step.count > 1", ", \"cases\": [{\"facts\": {}, \"fires\": 1}]",
		 "'fires' is true, false or null"},
		{"step.count > 1", ", \"unless\": [{\"when\": \"true\"}]", "'because' is missing"},
		{"step.count > 1", ", \"let\": {\"x\": \"$y\"}", "no threshold '$y'"},
		{"step.count > 1", ", \"note\": 3", "'note' is true or false"},
		{"step.count > 1", ", \"verdict\": {\"id\": \"x\", \"title\": \"X\"}",
		 "'sentence' is missing"},
		{"step.count > 1", "} trailing", "a.json:6"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		shelf_put_rule(&shelf, "a", rows[i].when, rows[i].members);
		ck_assert_int_eq(shelf_load(&shelf, &book, &err), TP_PARSE);
		ck_assert_msg(strstr(err.text, rows[i].said) != NULL, "'%s' instead of '%s'",
			      err.text, rows[i].said);
	}
}
END_TEST

START_TEST(a_rule_outside_a_family_folder_is_refused)
{
	shelf_put(&shelf, "bottlenecks/a.json", "{}");
	ck_assert_int_eq(shelf_load(&shelf, &book, &err), TP_PARSE);
	ck_assert_msg(strstr(err.text, "a.json: a rule must be in the folder of its family") !=
			      NULL,
		      "%s", err.text);
}
END_TEST

START_TEST(an_id_must_say_where_the_file_is)
{
	shelf_put(&shelf, "bottlenecks/test/a.json", "{\"id\": \"test/b\"}");
	ck_assert_int_eq(shelf_load(&shelf, &book, &err), TP_PARSE);
	ck_assert_ptr_nonnull(strstr(err.text, "id is 'test/b' but its place says 'test/a'"));
}
END_TEST

START_TEST(a_missing_directory_is_absent)
{
	const char *path = "/nonexistent/rules";
	ck_assert_int_eq(tp_rulebook_load(&book, &path, 1, &err), TP_ABSENT);
	ck_assert_ptr_nonnull(strstr(err.text, "/nonexistent/rules"));
}
END_TEST

START_TEST(thresholds_are_as_strict_as_rules)
{
	static const struct {
		const char *text;
		const char *said;
	} rows[] = {
		{"{\"thresholds\": [{\"name\": \"x\", \"value\": \"5\"}]}",
		 "needs a name, a value and why"},
		{"{\"thresholds\": [{\"name\": \"x\", \"value\": \"5q\", \"why\": \"w\"}]}",
		 "'5q' is not a number with a unit"},
		{"{\"thresholds\": [{\"name\": \"x\", \"value\": 5, \"why\": \"w\"}]}",
		 "all texts"},
		{"{\"threshold\": []}", "unknown key 'threshold'"},
		{"{\"doubts\": [{\"when\": \"step.cuont > 3\", \"because\": \"b\"}]}", "no fact"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		shelf_put(&shelf, "thresholds.json", rows[i].text);
		ck_assert_int_eq(shelf_load(&shelf, &book, &err), TP_PARSE);
		ck_assert_msg(strstr(err.text, rows[i].said) != NULL, "%s", err.text);
	}
}
END_TEST

/* TRAINPROF_RULES may name the shipped folder or a copy of it. */
START_TEST(a_doubt_that_is_given_twice_is_one)
{
	shelf_put(&shelf, "thresholds.json",
		  "{\"doubts\": [{\"when\": \"step.count < 3\", \"because\": \"few\"},"
		  "{\"when\": \"step.count < 2\", \"because\": \"none\"}],"
		  "\"not_compared\": [{\"when\": \"step.count < 3\", \"because\": \"few\"}]}");
	const char *paths[] = {shelf.path, shelf.path};
	ck_assert_msg(!tp_rulebook_load(&book, paths, 2, &err), "%s", err.text);
	ck_assert_uint_eq(book->n_doubts, 2);
	ck_assert_uint_eq(book->n_spoilers, 1);
}
END_TEST

Suite *suite_advise_rulebook(void);
Suite *suite_advise_rulebook(void)
{
	Suite *suite = suite_create("advise_rulebook");
	TCase *tcase = tcase_create("rulebook");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, rules_of_all_families_are_found_and_sorted);
	tcase_add_test(tcase, a_later_directory_replaces_rules_and_thresholds);
	tcase_add_test(tcase, mistakes_name_file_and_line);
	tcase_add_test(tcase, a_rule_outside_a_family_folder_is_refused);
	tcase_add_test(tcase, an_id_must_say_where_the_file_is);
	tcase_add_test(tcase, a_missing_directory_is_absent);
	tcase_add_test(tcase, thresholds_are_as_strict_as_rules);
	tcase_add_test(tcase, a_doubt_that_is_given_twice_is_one);
	suite_add_tcase(suite, tcase);
	return suite;
}
