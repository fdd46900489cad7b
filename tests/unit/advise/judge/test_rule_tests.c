/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the cases inside rules. */
#include "advise/shelf.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct shelf shelf;
static struct tp_rulebook *book;
static char *said;
static struct tp_rule_test_result result;

static void setup(void)
{
	shelf_open(&shelf);
	book = NULL;
	said = NULL;
}

static void teardown(void)
{
	free(said);
	tp_rulebook_free(book);
	shelf_close(&shelf);
}

static enum tp_status run(const char *cases, const char *id, struct tp_error *err)
{
	char members[1000];
	size_t size;
	snprintf(members, sizeof(members),
		 ", \"gain\": {\"part\": \"host\", \"fraction\": \"1\", \"method\": \"m\"},\n"
		 "\"level\": {\"high\": \"step.host_ratio > 50%%\"}, \"cases\": [%s]",
		 cases);
	shelf_put_rule(&shelf, "a", "step.host_ratio > 10%", members);
	struct tp_error loading = {0};
	ck_assert_msg(!shelf_load(&shelf, &book, &loading), "%s", loading.text);
	FILE *out = open_memstream(&said, &size);
	enum tp_status status = tp_rulebook_test(book, id, out, &result, err);
	fclose(out);
	return status;
}

START_TEST(right_cases_pass)
{
	ck_assert(!run(
		"{\"facts\": {\"step.count\": 9, \"step.host_ratio\": \"50%\"}, \"fires\": true, "
		"\"gain\": 2.0, \"level\": \"low\", \"actions\": [\"t\"]},"
		"{\"facts\": {\"step.host_ratio\": 0.05}, \"fires\": false},"
		"{\"facts\": {\"step.host_ratio\": null}, \"fires\": null}",
		NULL, NULL));
	ck_assert_str_eq(said, "");
	ck_assert_uint_eq(result.n_passed, 3);
	ck_assert_uint_eq(result.n_failed, 0);
}
END_TEST

START_TEST(every_wrong_expectation_is_reported)
{
	static const struct {
		const char *expect;
		const char *said;
	} rows[] = {
		{"\"fires\": false", "expects the rule to stay quiet, but it is fired"},
		{"\"fires\": null", "expects the rule not to be judged, but it is fired"},
		{"\"fires\": true, \"gain\": 1.9", "expects a gain of 1.90, but it is 2.00"},
		{"\"fires\": true, \"level\": \"high\"", "expects level high, but it is low"},
		{"\"fires\": true, \"actions\": [\"x\"]", "expects other actions than t"},
		{"\"fires\": true, \"actions\": []", "expects other actions than t"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[200];
		snprintf(text, sizeof(text),
			 "{\"facts\": {\"step.count\": 9, \"step.host_ratio\": 0.5}, %s}",
			 rows[i].expect);
		ck_assert(!run(text, "test/a", NULL));
		ck_assert_uint_eq(result.n_failed, 1);
		ck_assert_msg(strstr(said, rows[i].said) != NULL, "%s", said);
		ck_assert_ptr_nonnull(strstr(said, "a.json:"));
		free(said);
		said = NULL;
		tp_rulebook_free(book);
		book = NULL;
	}
}
END_TEST

START_TEST(an_unknown_rule_is_absent_with_the_nearest_name)
{
	struct tp_error err = {0};
	ck_assert_int_eq(run("{\"facts\": {}, \"fires\": null}", "test/b", &err), TP_ABSENT);
	ck_assert_str_eq(err.text, "there is no rule 'test/b'; nearest: test/a");
}
END_TEST

Suite *suite_advise_rule_tests(void);
Suite *suite_advise_rule_tests(void)
{
	Suite *suite = suite_create("advise_trial");
	TCase *tcase = tcase_create("trial");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, right_cases_pass);
	tcase_add_test(tcase, every_wrong_expectation_is_reported);
	tcase_add_test(tcase, an_unknown_rule_is_absent_with_the_nearest_name);
	suite_add_tcase(suite, tcase);
	return suite;
}
