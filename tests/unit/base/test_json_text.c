/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the JSON grammar: everything that RFC 8259 allows passes, the first error is
 * reported. */
#include "base/json_text.h"

#include "trainprof/base/json.h"
#include "trainprof/base/memory.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const char *const good[] = {
	"0",
	"-0",
	"-0.5e+10",
	"1E-3",
	"123456789012345678901234567890",
	"true",
	" \t\r\n null \n",
	"\"\"",
	"\"a\\\"b\\\\c\\/\\b\\f\\n\\r\\t\"",
	"\"\\u0041\\u00e9\\ud83d\\ude00\"",
	"\"\x7f\xc3\xbc\"",
	"[]",
	"[ ]",
	"{}",
	"[1,[2,{}],\"x\"]",
	"{\"a\":1,\"b\":{\"c\":[]}}",
	"{\"a\" : 1 , \"a\" : 2}", /* equal keys are checked elsewhere */
};

static bool is_valid(const char *text, size_t len, struct tp_json_fault *fault)
{
	struct tp_json_places places = {0};
	bool result = tp_json_text_is_valid(text, len, &places, fault);
	free(places.items);
	return result;
}

START_TEST(valid_json_is_accepted)
{
	struct tp_json_fault fault = {0};
	ck_assert_msg(is_valid(good[_i], strlen(good[_i]), &fault), "%s: %zu: %s", good[_i],
		      fault.offset, fault.what);
}
END_TEST

static const struct {
	const char *text;
	size_t offset;
	const char *what;
} bad[] = {
	{"", 0, "is empty"},
	{"  ", 2, "is empty"},
	{"{", 1, "ends in the middle"},
	{"{\"a\"", 4, "ends in the middle"},
	{"{\"a\":", 5, "ends in the middle"},
	{"{\"a\":1", 6, "ends in the middle"},
	{"[1,", 3, "ends in the middle"},
	{"\"abc", 4, "ends in the middle"},
	{"\"abc\\", 5, "ends in the middle"},
	{"\"\\u12", 3, "expected four hexadecimal digits"},
	{"-", 1, "ends in the middle"},
	{"1.", 2, "ends in the middle"},
	{"1e+", 3, "ends in the middle"},
	{"tru", 0, "expected a value"},
	{"True", 0, "expected a value"},
	{"nulll", 4, "text after the end"},
	{"1 2", 2, "text after the end"},
	{"{} []", 3, "text after the end"},
	{"01", 1, "text after the end"},
	{"+1", 0, "expected a value"},
	{".5", 0, "expected a value"},
	{"1.x", 2, "expected a digit"},
	{"0x10", 1, "text after the end"},
	{"1e999", 0, "number too large"},
	{"-1e999", 0, "number too large"},
	{"NaN", 0, "expected a value"},
	{"Infinity", 0, "expected a value"},
	{"'a'", 0, "expected a value"},
	{"[1,]", 3, "expected a value"},
	{"[,1]", 1, "expected a value"},
	{"[1 2]", 3, "expected ',' or ']'"},
	{"[1}", 2, "expected ',' or ']'"},
	{"{\"a\":1,}", 7, "expected a name in double quotes"},
	{"{a:1}", 1, "expected a name in double quotes"},
	{"{1:1}", 1, "expected a name in double quotes"},
	{"{\"a\" 1}", 5, "expected ':'"},
	{"{\"a\":1 \"b\":2}", 7, "expected ',' or '}'"},
	{"{\"a\":1]", 6, "expected ',' or '}'"},
	{"\"a\nb\"", 2, "control character in a string"},
	{"\"a\tb\"", 2, "control character in a string"},
	{"\"\\x41\"", 2, "no such escape"},
	{"\"\\u00g0\"", 3, "expected four hexadecimal digits"},
	{"\"\\u0000\"", 3, "NUL in a string"},
	{"\"\\ud800\"", 3, "half of a surrogate pair"},
	{"\"\\udc00\"", 3, "half of a surrogate pair"},
	{"\"\\ud800\\u0041\"", 3, "half of a surrogate pair"},
	{"\"\\ud800x\"", 3, "half of a surrogate pair"},
	{"\"\xff\"", 1, "not valid UTF-8"},
	{"\"\xc3\"", 1, "not valid UTF-8"},
	{"\xc3\xbc", 0, "expected a value"},
	{"\v1", 0, "expected a value"},
	{"/* c */ 1", 0, "expected a value"},
};

START_TEST(the_first_mistake_is_named_at_its_place)
{
	struct tp_json_fault fault = {0};
	ck_assert_msg(!is_valid(bad[_i].text, strlen(bad[_i].text), &fault), "%s", bad[_i].text);
	ck_assert_msg(fault.offset == bad[_i].offset && strcmp(fault.what, bad[_i].what) == 0,
		      "%s: %zu: %s", bad[_i].text, fault.offset, fault.what);
}
END_TEST

START_TEST(nesting_is_bounded)
{
	char text[200] = "";
	for (int i = 0; i < TP_JSON_MAX_DEPTH; i++)
		strcat(text, "[");
	strcat(text, "1");
	for (int i = 0; i < TP_JSON_MAX_DEPTH; i++)
		strcat(text, "]");
	struct tp_json_fault fault;
	ck_assert(is_valid(text, strlen(text), &fault));
	memmove(text + 1, text, strlen(text) + 1);
	strcat(text, "]");
	ck_assert(!is_valid(text, strlen(text), &fault));
	ck_assert_str_eq(fault.what, "nested too deeply");
	ck_assert_uint_eq(fault.offset, TP_JSON_MAX_DEPTH);
	/* A million brackets need no memory: there is no stack for them. */
	char *many = tp_alloc(1000001);
	memset(many, '[', 1000000);
	ck_assert(!is_valid(many, 1000000, &fault));
	free(many);
}
END_TEST

START_TEST(every_beginning_of_a_document_is_refused)
{
	static const char text[] = "{\"a\": [1.5e-3, true, \"x\\ud83d\\ude00\\n\"], \"b\": {}}";
	for (size_t len = 0; len < sizeof(text) - 1; len++) {
		char *part = tp_strndup(text, len);
		struct tp_json_fault fault;
		ck_assert_msg(!is_valid(part, len, &fault), "%s", part);
		ck_assert_uint_le(fault.offset, len);
		free(part);
	}
}
END_TEST

START_TEST(each_value_has_its_line_in_the_order_of_the_text)
{
	static const char text[] = "\n{\"a\":\n [1,\n\"x\\n\"],\n\"b\"\n:{}}\n";
	static const struct tp_json_place expected[] = {{2, 0}, {3, 2}, {3, 2}, {4, 2}, {6, 5}};
	struct tp_json_places places = {0};
	struct tp_json_fault fault;
	ck_assert(tp_json_text_is_valid(text, strlen(text), &places, &fault));
	ck_assert_uint_eq(places.n, TP_ARRAY_LEN(expected));
	for (size_t i = 0; i < places.n; i++) {
		ck_assert_uint_eq(places.items[i].line, expected[i].line);
		ck_assert_uint_eq(places.items[i].key_line, expected[i].key_line);
	}
	free(places.items);
}
END_TEST

Suite *suite_base_json_text(void);
Suite *suite_base_json_text(void)
{
	Suite *suite = suite_create("base/jsontext");
	TCase *tc = tcase_create("jsontext");
	tcase_add_loop_test(tc, valid_json_is_accepted, 0, TP_ARRAY_LEN(good));
	tcase_add_loop_test(tc, the_first_mistake_is_named_at_its_place, 0, TP_ARRAY_LEN(bad));
	tcase_add_test(tc, nesting_is_bounded);
	tcase_add_test(tc, every_beginning_of_a_document_is_refused);
	tcase_add_test(tc, each_value_has_its_line_in_the_order_of_the_text);
	suite_add_tcase(suite, tc);
	return suite;
}
