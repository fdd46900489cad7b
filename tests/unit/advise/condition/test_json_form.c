/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of strict reading of JSON. */
#include "advise/condition/json_form.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static struct tp_arena arena;
static struct tp_json_doc *doc;
static struct tp_error err;
static struct tp_json_form form;

static void setup(void)
{
	tp_arena_init(&arena);
	doc = NULL;
	err = (struct tp_error){0};
}

static void teardown(void)
{
	tp_json_free(doc);
	tp_arena_release(&arena);
}

static const struct tp_json *begin(const char *text)
{
	ck_assert(!tp_json_parse(&doc, text, strlen(text), "f.json", &err));
	form = (struct tp_json_form){.doc = doc, .arena = &arena, .err = &err};
	return tp_json_root(doc);
}

START_TEST(answers_come_as_they_were_written)
{
	static const char *const words[] = {"red", "green", NULL};
	const struct tp_json *root = begin("{\"text\": \"a\", \"names\": [\"x\", \"y\"], "
					   "\"colour\": \"green\", \"yes\": true}");
	size_t n;
	ck_assert_str_eq(tp_json_form_text(&form, root, "text", true), "a");
	ck_assert_ptr_null(tp_json_form_text(&form, root, "missing", false));
	ck_assert_str_eq(tp_json_form_names(&form, root, "names", &n)[1], "y");
	ck_assert_uint_eq(n, 2);
	ck_assert_int_eq(tp_json_form_choice(&form, root, "colour", words, 0), 1);
	ck_assert_int_eq(tp_json_form_choice(&form, root, "missing", words, 7), 7);
	ck_assert(tp_json_form_bool(&form, root, "yes"));
	ck_assert(!tp_json_form_bool(&form, root, "missing"));
	ck_assert_int_eq(form.status, TP_OK);
}
END_TEST

START_TEST(the_first_error_is_reported)
{
	const struct tp_json *root = begin("{\n\"a\": 3,\n\"b\": 4}");
	tp_json_form_text(&form, root, "b", true);
	tp_json_form_text(&form, root, "a", true);
	tp_json_form_text(&form, root, "c", true);
	ck_assert_int_eq(form.status, TP_PARSE);
	ck_assert_str_eq(err.text, "f.json:3: 'b' must be a text");
	ck_assert_ptr_null(tp_json_form_sentence(&form, root, "a", true));
	ck_assert_ptr_null(tp_json_form_expr(&form, tp_json_get(root, "a"), TP_EXPR_NUMBER));
}
END_TEST

START_TEST(unknown_keys_are_refused_with_the_nearest)
{
	static const char *const keys[] = {"title", "text", NULL};
	const struct tp_json *root = begin("{\"title\": 1,\n \"txet\": 2}");
	tp_json_form_check_keys(&form, root, "a rule", keys);
	ck_assert_str_eq(err.text, "f.json:2: a rule has no key 'txet'; nearest: text");
}
END_TEST

START_TEST(lists_are_bounded)
{
	char text[700] = "{\"list\": [0";
	size_t n;
	for (int i = 0; i < TP_JSON_FORM_MAX_ITEMS; i++)
		strcat(text, ",1");
	strcat(text, "]}");
	ck_assert_ptr_null(tp_json_form_list(&form, begin(text), "list", true, &n));
	ck_assert_str_eq(err.text, "f.json:1: 'list' is a list of at most 64");
}
END_TEST

START_TEST(errors_of_choices_list_all_words)
{
	static const char *const two[] = {"free", "semantic", NULL};
	static const char *const four[] = {"none", "low", "medium", "high", NULL};
	const struct tp_json *root = begin("{\"risk\": \"hihg\"}");
	ck_assert_int_lt(tp_json_form_choice(&form, root, "risk", four, -1), 0);
	ck_assert_str_eq(err.text, "f.json:1: 'risk' is none, low, medium or high");
	form.status = TP_OK;
	tp_json_form_choice(&form, root, "risk", two, -1);
	ck_assert_str_eq(err.text, "f.json:1: 'risk' is free or semantic");
	form.status = TP_OK;
	tp_json_form_choice(&form, root, "kind", two, -1);
	ck_assert_str_eq(err.text, "f.json:1: 'kind' is missing");
}
END_TEST

START_TEST(texts_are_bounded)
{
	char text[TP_JSON_FORM_MAX_TEXT + 40] = "{\"a\": \"";
	size_t at = strlen(text);
	memset(text + at, 'x', TP_JSON_FORM_MAX_TEXT);
	strcpy(text + at + TP_JSON_FORM_MAX_TEXT, "\"}");
	ck_assert_ptr_nonnull(tp_json_form_text(&form, begin(text), "a", true));
	tp_json_form_short_text(&form, tp_json_root(doc), "a", true, 60);
	ck_assert_str_eq(err.text, "f.json:1: 'a' has 2000 columns, 60 are allowed");
	tp_json_free(doc);
	strcpy(text + at + TP_JSON_FORM_MAX_TEXT, "y\"}");
	ck_assert_ptr_null(tp_json_form_text(&form, begin(text), "a", true));
	ck_assert_str_eq(err.text, "f.json:1: 'a' has 2001 bytes, 2000 are allowed");
}
END_TEST

START_TEST(days_have_one_form)
{
	static const char *const wrong[] = {"2026-11-2", "2026/11/20", "20th November"};
	ck_assert_ptr_nonnull(tp_json_form_date(&form, begin("{\"d\": \"2026-11-20\"}"), "d"));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char text[64];
		snprintf(text, sizeof(text), "{\"d\": \"%s\"}", wrong[i]);
		tp_json_free(doc);
		tp_json_form_date(&form, begin(text), "d");
		ck_assert_str_eq(err.text, "f.json:1: 'd' is a day such as 2026-11-20");
	}
}
END_TEST

Suite *suite_advise_json_form(void);
Suite *suite_advise_json_form(void)
{
	Suite *suite = suite_create("advise_form");
	TCase *tcase = tcase_create("form");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, answers_come_as_they_were_written);
	tcase_add_test(tcase, the_first_error_is_reported);
	tcase_add_test(tcase, unknown_keys_are_refused_with_the_nearest);
	tcase_add_test(tcase, lists_are_bounded);
	tcase_add_test(tcase, errors_of_choices_list_all_words);
	tcase_add_test(tcase, texts_are_bounded);
	tcase_add_test(tcase, days_have_one_form);
	suite_add_tcase(suite, tcase);
	return suite;
}
