/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of named thresholds. */
#include "advise/condition/threshold.h"

#include <check.h>
#include <string.h>

static struct tp_arena arena;
static struct tp_thresholds thresholds;

static void setup(void)
{
	tp_arena_init(&arena);
	thresholds = (struct tp_thresholds){0};
}

static void teardown(void)
{
	tp_thresholds_release(&thresholds);
	tp_arena_release(&arena);
}

static enum tp_status read_list(const char *text, struct tp_error *err)
{
	struct tp_json_doc *doc = NULL;
	ck_assert(!tp_json_parse(&doc, text, strlen(text), "t.json", err));
	enum tp_status status =
		tp_thresholds_read(&thresholds, doc, tp_json_root(doc), &arena, err);
	tp_json_free(doc);
	return status;
}

START_TEST(thresholds_keep_value_unit_and_source)
{
	ck_assert(!read_list("[{\"name\": \"a.b\", \"value\": \"128KiB\", \"why\": \"w\", "
			     "\"source\": \"s\", \"checked\": \"2026-11-20\"}]",
			     NULL));
	const struct tp_threshold *found = tp_thresholds_find(&thresholds, "a.b");
	ck_assert_ptr_nonnull(found);
	ck_assert_double_eq(found->value, 131072);
	ck_assert_int_eq(found->dimension.bytes, 1);
	ck_assert_str_eq(found->written, "128KiB");
	ck_assert_str_eq(found->checked, "2026-11-20");
	ck_assert_ptr_null(tp_thresholds_find(&thresholds, "a"));
	ck_assert_str_eq(tp_thresholds_nearest(&thresholds, "a.c"), "a.b");
}
END_TEST

START_TEST(a_later_value_replaces_an_earlier_one)
{
	ck_assert(!read_list("[{\"name\": \"a\", \"value\": \"5%\", \"why\": \"w\"},"
			     " {\"name\": \"a\", \"value\": \"7%\", \"why\": \"w\"}]",
			     NULL));
	ck_assert_uint_eq(thresholds.n_items, 1);
	ck_assert_double_eq(tp_thresholds_value(&thresholds, "a", 1), 0.07);
	ck_assert_double_eq(tp_thresholds_value(&thresholds, "b", 1), 1);
}
END_TEST

START_TEST(a_source_without_a_date_is_refused)
{
	struct tp_error err;
	ck_assert_int_eq(read_list("[{\"name\": \"a\", \"value\": \"5%\", \"why\": \"w\", "
				   "\"source\": \"s\"}]",
				   &err),
			 TP_PARSE);
	ck_assert_ptr_nonnull(strstr(err.text, "the date it was checked"));
	ck_assert_int_eq(read_list("[3]", &err), TP_PARSE);
	ck_assert_int_eq(read_list("[{\"value\": \"5%\", \"why\": \"w\"}]", &err), TP_PARSE);
}
END_TEST

Suite *suite_advise_threshold(void);
Suite *suite_advise_threshold(void)
{
	Suite *suite = suite_create("advise_threshold");
	TCase *tcase = tcase_create("threshold");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, thresholds_keep_value_unit_and_source);
	tcase_add_test(tcase, a_later_value_replaces_an_earlier_one);
	tcase_add_test(tcase, a_source_without_a_date_is_refused);
	suite_add_tcase(suite, tcase);
	return suite;
}
