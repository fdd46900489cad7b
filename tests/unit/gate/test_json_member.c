/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of members of JSON objects: those that are there, missing, and of another type. */
#include "gate/json_member.h"

#include <check.h>
#include <string.h>

static const char text[] =
	"{\"name\": \"a\", \"share\": 0.5, \"n\": 3, \"minus\": -1, \"none\": null}";

START_TEST(members_are_read_and_others_are_empty)
{
	struct tp_arena arena = {0};
	struct tp_json_doc *doc = NULL;
	ck_assert_int_eq(tp_json_parse(&doc, text, strlen(text), "test", NULL), TP_OK);
	const struct tp_json *root = tp_json_root(doc);
	const char *name = tp_member_text(root, "name", &arena);
	ck_assert_str_eq(name, "a");
	ck_assert_ptr_null(tp_member_text(root, "n", &arena));
	ck_assert_ptr_null(tp_member_text(root, "none", &arena));
	ck_assert_ptr_null(tp_member_text(NULL, "name", &arena));
	ck_assert(tp_member_number(root, "share") == 0.5);
	ck_assert(tp_member_number(root, "minus") == -1);
	ck_assert(tp_member_number(root, "name") == 0);
	ck_assert_uint_eq(tp_member_count(root, "n"), 3);
	ck_assert_uint_eq(tp_member_count(root, "share"), 0);
	ck_assert_uint_eq(tp_member_count(root, "minus"), 0);
	tp_json_free(doc);
	ck_assert_str_eq(name, "a"); /* a copy */
	tp_arena_release(&arena);
}
END_TEST

START_TEST(intervals_and_places_are_whole_or_empty)
{
	static const char places[] =
		"{\"pair\": [1, 2], \"one\": [1], \"texts\": [1, \"2\"], \"nulls\": [null, 2], "
		"\"object\": {\"a\": 1, \"b\": 2}, \"place\": {\"file\": \"src/train.py\", "
		"\"line\": 7, "
		"\"function\": \"main\", \"part\": \"host\"}, \"bare\": {\"line\": 3}}";
	struct tp_arena arena = {0};
	struct tp_json_doc *doc = NULL;
	struct tp_value_place place;
	double low;
	double high;
	ck_assert_int_eq(tp_json_parse(&doc, places, strlen(places), "test", NULL), TP_OK);
	const struct tp_json *root = tp_json_root(doc);
	ck_assert(tp_member_interval(tp_json_get(root, "pair"), &low, &high));
	ck_assert(low == 1 && high == 2);
	static const char *const others[] = {"one", "texts", "nulls", "object"};
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		ck_assert(!tp_member_interval(tp_json_get(root, others[i]), &low, &high));
		ck_assert(low == 0 && high == 0);
	}
	ck_assert(!tp_member_interval(NULL, &low, &high));
	tp_member_place(&place, tp_json_get(root, "place"), &arena);
	ck_assert_str_eq(place.text, "train.py:7 (main)");
	ck_assert_str_eq(place.file, "src/train.py");
	ck_assert_str_eq(place.part, "host");
	ck_assert_uint_eq(place.line, 7);
	tp_member_place(&place, tp_json_get(root, "bare"), &arena);
	ck_assert_str_eq(place.text, "?:3 (?)");
	ck_assert_ptr_null(place.file);
	tp_json_free(doc);
	tp_arena_release(&arena);
}
END_TEST

Suite *suite_gate_json_member(void);

Suite *suite_gate_json_member(void)
{
	Suite *s = suite_create("gate_json_member");
	TCase *tc = tcase_create("all");
	tcase_add_test(tc, members_are_read_and_others_are_empty);
	tcase_add_test(tc, intervals_and_places_are_whole_or_empty);
	suite_add_tcase(s, tc);
	return s;
}
