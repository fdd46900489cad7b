/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of JSON documents: strict reading, exact writing, any input handled. */
#include "trainprof/base/json.h"

#include "trainprof/base/memory.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tp_json_doc *parse(const char *text)
{
	struct tp_json_doc *doc = NULL;
	struct tp_error err = {0};
	ck_assert_msg(!tp_json_parse(&doc, text, strlen(text), "d.json", &err), "%s", err.text);
	return doc;
}

START_TEST(values_are_found_with_their_types_and_lines)
{
	struct tp_json_doc *doc = parse("// about\n"
					"{\n"
					"  \"a\": [1, \"two\",\n"
					"        null, true],\n"
					"  // inside\n"
					"  \"b\": {\"c\": -2.5}, // \"x\": 1 }\n"
					"  \"\": \"\\\"// not a comment\" // one\n"
					"}\n");
	const struct tp_json *root = tp_json_root(doc);
	ck_assert_str_eq(tp_json_name(doc), "d.json");
	ck_assert_uint_eq(tp_json_line(root), 2);
	ck_assert_uint_eq(tp_json_count(root), 3);
	const struct tp_json *a = tp_json_get(root, "a");
	ck_assert_int_eq(tp_json_type(a), TP_JSON_ARRAY);
	ck_assert_uint_eq(tp_json_line(a), 3);
	const struct tp_json *item = tp_json_first(a);
	ck_assert_double_eq(tp_json_number(item, 0), 1);
	ck_assert_ptr_null(tp_json_key(item));
	item = tp_json_after(item);
	ck_assert_str_eq(tp_json_string(item), "two");
	ck_assert_uint_eq(tp_json_line(item), 3);
	item = tp_json_after(item);
	ck_assert_int_eq(tp_json_type(item), TP_JSON_NULL);
	ck_assert_uint_eq(tp_json_line(item), 4);
	item = tp_json_after(item);
	ck_assert(tp_json_bool(item, false));
	ck_assert_ptr_null(tp_json_after(item));
	const struct tp_json *c = tp_json_get(tp_json_get(root, "b"), "c");
	ck_assert_str_eq(tp_json_key(c), "c");
	ck_assert_uint_eq(tp_json_line(c), 6);
	ck_assert_double_eq(tp_json_number(c, 0), -2.5);
	ck_assert_str_eq(tp_json_string(tp_json_get(root, "")), "\"// not a comment");
	ck_assert_uint_eq(tp_json_line(tp_json_get(root, "")), 7);
	tp_json_free(doc);
}
END_TEST

START_TEST(asking_the_wrong_way_gives_nothing)
{
	struct tp_json_doc *doc = parse("{\"a\": [1], \"s\": \"x\", \"n\": 1}");
	const struct tp_json *root = tp_json_root(doc);
	ck_assert_ptr_null(tp_json_get(root, "A"));
	ck_assert_ptr_null(tp_json_get(tp_json_get(root, "a"), "x"));
	ck_assert_ptr_null(tp_json_get(NULL, "x"));
	ck_assert_ptr_null(tp_json_first(tp_json_get(root, "s")));
	ck_assert_ptr_null(tp_json_first(NULL));
	ck_assert_ptr_null(tp_json_after(NULL));
	ck_assert_ptr_null(tp_json_string(tp_json_get(root, "n")));
	ck_assert_ptr_null(tp_json_string(NULL));
	ck_assert_double_eq(tp_json_number(tp_json_get(root, "s"), 7), 7);
	ck_assert(tp_json_bool(tp_json_get(root, "n"), true));
	ck_assert_uint_eq(tp_json_count(NULL), 0);
	ck_assert_int_eq(tp_json_type(NULL), TP_JSON_NULL);
	ck_assert_uint_eq(tp_json_line(NULL), 0);
	tp_json_free(doc);
	tp_json_free(NULL);
}
END_TEST

static const struct {
	const char *text;
	bool is_good;
	uint64_t value;
} uints[] = {
	{"0", true, 0},
	{"-0", true, 0},
	{"1e3", true, 1000},
	{"9007199254740992", true, UINT64_C(9007199254740992)},
	{"9007199254740994", false, 0},
	{"-1", false, 0},
	{"0.5", false, 0},
	{"1e300", false, 0},
	{"\"1\"", false, 0},
	{"null", false, 0},
};

START_TEST(a_whole_number_is_whole_and_exact)
{
	struct tp_json_doc *doc = parse(uints[_i].text);
	uint64_t value = 77;
	ck_assert_int_eq(tp_json_uint(tp_json_root(doc), &value), uints[_i].is_good);
	ck_assert_uint_eq(value, uints[_i].is_good ? uints[_i].value : 77);
	tp_json_free(doc);
}
END_TEST

static const struct {
	const char *text;
	const char *message;
} bad[] = {
	{"", "d.json:1:1: is empty"},
	{"{\n  \"max\": \"55 ms\" \"max_worse_ratio\": 0.03\n}",
	 "d.json:2:18: expected ',' or '}'"},
	{"{\n\"a\": 1,\n\"b\": 2,\n\"a\": 3}", "d.json:4: key \"a\" appears twice"},
	{"{\"x\": {\"\": 1,\n \"\": 2}}", "d.json:2: key \"\" appears twice"},
	{"{\"a\": 1, \"\\u0061\": 2}", "d.json:1: key \"a\" appears twice"},
	{"{\"a\": 1,\n\"a\"\n:\n2}", "d.json:2: key \"a\" appears twice"},
	{"[1,\n 2", "d.json:2:3: ends in the middle"},
	{"{\"a\": \"line\n// break\"}", "d.json:1:12: control character in a string"},
	{"// only a comment\n", "d.json:2:1: is empty"},
	{"[1] / behind", "d.json:1:5: text after the end"},
	{"[1 // no end", "d.json:1:13: ends in the middle"},
};

START_TEST(an_error_names_line_and_column)
{
	struct tp_json_doc *doc = NULL;
	struct tp_error err = {0};
	ck_assert_int_eq(tp_json_parse(&doc, bad[_i].text, strlen(bad[_i].text), "d.json", &err),
			 TP_PARSE);
	ck_assert_ptr_null(doc);
	ck_assert_str_eq(err.text, bad[_i].message);
}
END_TEST

START_TEST(a_nul_byte_and_too_much_are_refused)
{
	struct tp_json_doc *doc = NULL;
	struct tp_error err = {0};
	ck_assert_int_eq(tp_json_parse(&doc, "[1]\0[2]", 7, "d.json", &err), TP_PARSE);
	ck_assert_str_eq(err.text, "d.json:1:4: a NUL byte");
	char *large = tp_alloc(TP_JSON_MAX_BYTES + 2);
	memset(large, ' ', TP_JSON_MAX_BYTES + 1);
	large[0] = '1';
	ck_assert_int_eq(tp_json_parse(&doc, large, TP_JSON_MAX_BYTES + 1, "d.json", &err),
			 TP_PARSE);
	ck_assert_str_eq(err.text, "d.json: larger than 8388608 bytes");
	ck_assert_int_eq(tp_json_parse(&doc, large, TP_JSON_MAX_BYTES, "d.json", &err), TP_OK);
	tp_json_free(doc);
	free(large);
}
END_TEST

START_TEST(a_byte_order_mark_is_overlooked)
{
	struct tp_json_doc *doc = parse("\xef\xbb\xbf{\"a\":\n1}");
	ck_assert_uint_eq(tp_json_line(tp_json_get(tp_json_root(doc), "a")), 2);
	tp_json_free(doc);
}
END_TEST

/* Comparing each key with every other would take minutes; Check allows four seconds. */
START_TEST(a_hundred_thousand_keys_are_checked_in_time)
{
	struct tp_buf text = {0};
	tp_buf_putc(&text, '{');
	for (int i = 0; i < 80000; i++)
		tp_buf_printf(&text, "%s\"%d\":0", i ? "," : "", i);
	struct tp_buf twice = {0};
	tp_buf_add(&twice, text.data, text.len);
	tp_buf_puts(&text, "}");
	tp_buf_puts(&twice, ",\n\"777\":1}");
	struct tp_json_doc *doc = parse(tp_buf_text(&text));
	ck_assert_uint_eq(tp_json_count(tp_json_root(doc)), 80000);
	tp_json_free(doc);
	struct tp_error err = {0};
	ck_assert_int_eq(tp_json_parse(&doc, twice.data, twice.len, "d", &err), TP_PARSE);
	ck_assert_str_eq(err.text, "d:2: key \"777\" appears twice");
	tp_buf_release(&text);
	tp_buf_release(&twice);
}
END_TEST

START_TEST(written_json_is_indented_and_reads_back)
{
	struct tp_json_writer w = {0};
	tp_json_open(&w, '{');
	tp_json_put_string(&w, "s", "a\"b\\c\n\x01\x7f\xc3\xbc\xff");
	tp_json_put_string(&w, "none", NULL);
	tp_json_put_uint(&w, "u", UINT64_MAX);
	tp_json_put_number(&w, "x", 0.1);
	tp_json_put_number(&w, "nan", NAN);
	tp_json_put_number(&w, "inf", -INFINITY);
	tp_json_put_bool(&w, "yes", true);
	tp_json_write_key(&w, "list");
	tp_json_open(&w, '[');
	tp_json_write_int(&w, INT64_MIN);
	tp_json_open(&w, '[');
	tp_json_close(&w, ']');
	tp_json_open(&w, '{');
	tp_json_close(&w, '}');
	tp_json_close(&w, ']');
	tp_json_close(&w, '}');
	ck_assert_str_eq(tp_buf_text(&w.out),
			 "{\n"
			 "  \"s\": \"a\\\"b\\\\c\\u000a\\u0001\\u007f\xc3\xbc\xef\xbf\xbd\",\n"
			 "  \"none\": null,\n"
			 "  \"u\": 18446744073709551615,\n"
			 "  \"x\": 0.1,\n"
			 "  \"nan\": null,\n"
			 "  \"inf\": null,\n"
			 "  \"yes\": true,\n"
			 "  \"list\": [\n"
			 "    -9223372036854775808,\n"
			 "    [],\n"
			 "    {}\n"
			 "  ]\n"
			 "}\n");
	struct tp_json_doc *doc = parse(tp_buf_text(&w.out));
	ck_assert_str_eq(tp_json_string(tp_json_get(tp_json_root(doc), "s")),
			 "a\"b\\c\n\x01\x7f\xc3\xbc\xef\xbf\xbd");
	tp_json_free(doc);
	tp_json_writer_release(&w);
}
END_TEST

START_TEST(numbers_read_back_within_their_promise)
{
	static const double numbers[] = {1,        -1,   0.1, 1.0 / 3, 1e-300, 123456789.125,
					 1e15 + 1, 4e-10};
	for (size_t i = 0; i < TP_ARRAY_LEN(numbers); i++) {
		struct tp_json_writer w = {0};
		tp_json_write_number(&w, numbers[i]);
		double read = strtod(tp_buf_text(&w.out), NULL);
		ck_assert_msg(fabs(read - numbers[i]) <= 1e-9 * fabs(numbers[i]), "%s",
			      tp_buf_text(&w.out));
		tp_json_writer_release(&w);
	}
}
END_TEST

Suite *suite_base_json(void);
Suite *suite_base_json(void)
{
	Suite *suite = suite_create("base/json");
	TCase *tc = tcase_create("json");
	tcase_add_test(tc, values_are_found_with_their_types_and_lines);
	tcase_add_test(tc, asking_the_wrong_way_gives_nothing);
	tcase_add_loop_test(tc, a_whole_number_is_whole_and_exact, 0, TP_ARRAY_LEN(uints));
	tcase_add_loop_test(tc, an_error_names_line_and_column, 0, TP_ARRAY_LEN(bad));
	tcase_add_test(tc, a_nul_byte_and_too_much_are_refused);
	tcase_add_test(tc, a_byte_order_mark_is_overlooked);
	tcase_add_test(tc, a_hundred_thousand_keys_are_checked_in_time);
	tcase_add_test(tc, written_json_is_indented_and_reads_back);
	tcase_add_test(tc, numbers_read_back_within_their_promise);
	suite_add_tcase(suite, tc);
	return suite;
}
