/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of rules printed as text. */
#include "advise/shelf.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct shelf shelf;
static struct tp_rulebook *book;
static char *said;

static void setup(void)
{
	shelf_open(&shelf);
	book = NULL;
	said = NULL;
	shelf_put(&shelf, "thresholds.json",
		  "{\"thresholds\": [{\"name\": \"part.small\", \"value\": \"5%\", \"why\": "
		  "\"small\"},"
		  "{\"name\": \"part.smaller\", \"value\": \"3%\", \"why\": \"smaller\"}]}");
	shelf_put_rule(&shelf, "a", "step.host_ratio > $part.small", "");
	shelf_put_rule(&shelf, "b", "step.host_ratio > 1%", "");
	ck_assert(!shelf_load(&shelf, &book, NULL));
}

static void teardown(void)
{
	free(said);
	tp_rulebook_free(book);
	shelf_close(&shelf);
}

static enum tp_status print(const char *id, struct tp_error *err)
{
	size_t size;
	FILE *out = open_memstream(&said, &size);
	enum tp_status status = tp_rulebook_print(book, id, out, err);
	fclose(out);
	return status;
}

START_TEST(the_list_has_a_line_for_every_rule)
{
	ck_assert(!print(NULL, NULL));
	ck_assert_ptr_nonnull(strstr(said, "test/a"));
	ck_assert_ptr_nonnull(strstr(said, "Title of b\n"));
	size_t lines = 0;
	for (const char *p = said; *p; p++)
		lines += *p == '\n';
	ck_assert_uint_eq(lines, 2);
}
END_TEST

START_TEST(a_rule_shows_its_thresholds_and_no_others)
{
	ck_assert(!print("test/a", NULL));
	ck_assert_ptr_nonnull(strstr(said, "when      step.host_ratio > $part.small\n"));
	ck_assert_ptr_nonnull(strstr(said, "threshold $part.small = 5%: small\n"));
	ck_assert_ptr_null(strstr(said, "smaller"));
	ck_assert_ptr_nonnull(strstr(said, "W, read 2026-11-20"));
	ck_assert_ptr_nonnull(strstr(said, "step.count: steady steps"));
}
END_TEST

START_TEST(an_unknown_rule_is_absent_with_the_nearest_name)
{
	struct tp_error err = {0};
	ck_assert_int_eq(print("test/aa", &err), TP_ABSENT);
	ck_assert_str_eq(err.text, "there is no rule 'test/aa'; nearest: test/a");
}
END_TEST

Suite *suite_advise_rule_text(void);
Suite *suite_advise_rule_text(void)
{
	Suite *suite = suite_create("advise_rule_text");
	TCase *tcase = tcase_create("rule_text");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, the_list_has_a_line_for_every_rule);
	tcase_add_test(tcase, a_rule_shows_its_thresholds_and_no_others);
	tcase_add_test(tcase, an_unknown_rule_is_absent_with_the_nearest_name);
	suite_add_tcase(suite, tcase);
	return suite;
}
