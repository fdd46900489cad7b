/* SPDX-License-Identifier: Apache-2.0 */
/* Tests parsing JSON: members, numbers, times, texts. */
#include "import/json/json_walk.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Returns the text followed by slack that must not matter. */
static char *slacked(const char *text, size_t len)
{
	char *copy = tp_alloc(len + TP_JSON_WALK_SLACK);
	memcpy(copy, text, len);
	memset(copy + len, '"', TP_JSON_WALK_SLACK);
	return copy;
}

static struct tp_json_slice piece_of(const char *copy, size_t len, enum tp_json_slice_type type)
{
	return (struct tp_json_slice){copy, len, type, memchr(copy, '\\', len) != NULL};
}

/* ---- masks ---- */

/* Fills in random bytes, of which about one in `n` is `c`. */
static void fill(char bytes[TP_BYTE_MASK_BYTES], unsigned c, unsigned seed, unsigned n)
{
	for (size_t i = 0; i < TP_BYTE_MASK_BYTES; i++)
		bytes[i] = (char)(tp_hash_mix(i, seed) % n ? tp_hash_mix(c, i) : c);
}

START_TEST(vectors_find_what_loops_find)
{
	char bytes[TP_BYTE_MASK_BYTES];
	for (unsigned c = 0; c < 256; c++) {
		fill(bytes, c, c, 3);
		ck_assert_uint_eq(tp_byte_mask_text_end(bytes), tp_plain_text_end(bytes));
		ck_assert_uint_eq(tp_byte_mask_not_space(bytes), tp_plain_ink(bytes));
		ck_assert_uint_eq(tp_byte_mask_word_end(bytes), tp_plain_word_end(bytes));
		ck_assert_uint_eq(tp_byte_mask_special(bytes), tp_plain_odd(bytes));
	}
}
END_TEST

START_TEST(vectors_compare_as_loops_do)
{
	char bytes[TP_BYTE_MASK_BYTES];
	char others[TP_BYTE_MASK_BYTES];
	for (unsigned c = 0; c < 256; c++) {
		fill(bytes, c, c, 3);
		fill(others, c, c + 256, 2);
		ck_assert_uint_eq(tp_byte_mask_same(bytes, others), tp_plain_same(bytes, others));
	}
}
END_TEST

START_TEST(short_texts_and_numbers_end_where_long_ones_do)
{
	char bytes[TP_BYTE_MASK_BYTES];
	for (unsigned c = 0; c < 1 << 16; c++) {
		fill(bytes, c, c, 3);
		for (size_t i = 0; i < tp_hash_mix(c, 98) % 9; i++)
			bytes[i] = (char)('0' + tp_hash_mix(i, c) % 10);
		bytes[tp_hash_mix(c, 99) % 8] = "\"\\\"\\:/\x2f\x3a"[c % 8];
		unsigned ends = tp_plain_text_end(bytes);
		unsigned len = ends & 0xff ? (unsigned)__builtin_ctz(ends) : 8;
		unsigned n = 0;
		while (n < 8 && bytes[n] >= '0' && bytes[n] <= '9')
			n++;
		ck_assert_uint_eq(tp_byte_mask_text_length(bytes), len);
		ck_assert_uint_eq(tp_byte_mask_digits(bytes), n);
	}
}
END_TEST

/* ---- walking ---- */

/* Writes each member as "key=value", with a letter for its type before the value; '!' if
 * malformed. */
static const struct {
	const char *json;
	const char *members;
} objects[] = {
	{"{}", ""},
	{"{ }", ""},
	{"[]", ""},
	{"{\"a\":1}", "a=w1;"},
	{"{\"a\" : \"x\" , \"b\":[1,2], \"c\":{\"d\":\"}\"},\n\t\"e\":null}",
	 "a=tx;b=l[1,2];c=o{\"d\":\"}\"};e=wnull;"},
	{"[1, \"2\", [3], {\"4\":4}]", "=w1;=t2;=l[3];=o{\"4\":4};"},
	{"{\"a\":\"\\\"\",\"b\":\"\\\\\",\"c\":\"]\\\\\\\"}\"}", "a=t\\\";b=t\\\\;c=t]\\\\\\\"};"},
	{"{\"a long key that is longer than sixteen bytes\":-1.5e-3}",
	 "a long key that is longer than sixteen bytes=w-1.5e-3;"},
	{"{\"a\":NaN,\"b\":-Infinity}", "a=wNaN;b=w-Infinity;"},
	{"{\"a\": ,\"b\":}", "a=n;b=n;"},
	{"{\"a\":1,,\"b\":2,}", "a=w1;b=w2;"},
	{"{\"a\":1 \"b\":2}", "a=w1;b=w2;"},
	{"{\"\":\"\"}", "=t;"},
	{"{\"a\":\"control \n\x01 characters\"}", "a=tcontrol \n\x01 characters;"},
	{"{\"a\":\"no utf-8 \xff\xc0\"}", "a=tno utf-8 \xff\xc0;"},
	{"{\"a\":1,\"a\":2}", "a=w1;a=w2;"},
	{"{a:1}", "!"},
	{"{\"a\"}", "!"},
	{"{\"a\":1,2}", "a=w1;!"},
	{"{\"a\":\"b}", "!"},
	{"{\"a\":[1}", "!"},
	{"[1,}]", "=w1;!"},
};

static void describe(struct tp_buf *out, const struct tp_json_slice *piece)
{
	static const char letters[] = "ntolw";
	struct tp_json_walk walk = tp_json_walk_init(piece);
	struct tp_json_slice key;
	struct tp_json_slice value;
	while (tp_json_walk_next(&walk, &key, &value)) {
		tp_buf_add(out, key.text, key.len);
		tp_buf_putc(out, '=');
		tp_buf_putc(out, letters[value.type]);
		tp_buf_add(out, value.text, value.len);
		tp_buf_putc(out, ';');
	}
	if (walk.is_malformed)
		tp_buf_putc(out, '!');
}

START_TEST(members_come_one_after_the_other)
{
	struct tp_buf got = {0};
	size_t len = strlen(objects[_i].json);
	char *copy = slacked(objects[_i].json, len);
	struct tp_json_slice piece =
		piece_of(copy, len, *copy == '{' ? TP_JSON_SLICE_OBJECT : TP_JSON_SLICE_LIST);
	describe(&got, &piece);
	ck_assert_str_eq(tp_buf_text(&got), objects[_i].members);
	tp_buf_release(&got);
	free(copy);
}
END_TEST

START_TEST(what_is_no_parent_has_no_members)
{
	char *copy = slacked("5", 1);
	struct tp_json_slice piece = piece_of(copy, 1, TP_JSON_SLICE_WORD);
	struct tp_json_walk walk = tp_json_walk_init(&piece);
	struct tp_json_slice key;
	struct tp_json_slice value;
	ck_assert(!tp_json_walk_next(&walk, &key, &value));
	piece = (struct tp_json_slice){0};
	walk = tp_json_walk_init(&piece);
	ck_assert(!tp_json_walk_next(&walk, &key, &value));
	ck_assert(!walk.is_malformed);
	free(copy);
}
END_TEST

START_TEST(of_equal_keys_the_last_is_found)
{
	const char *json = "{\"a\":1,\"b\":2,\"a\":3}";
	char *copy = slacked(json, strlen(json));
	struct tp_json_slice object = piece_of(copy, strlen(json), TP_JSON_SLICE_OBJECT);
	struct tp_json_slice a = tp_json_slice_find(&object, "a");
	ck_assert(TP_JSON_SLICE_IS(&a, "3"));
	ck_assert_int_eq(tp_json_slice_find(&object, "c").type, TP_JSON_SLICE_NONE);
	free(copy);
}
END_TEST

/* ---- numbers ---- */

static const struct {
	const char *text;
	bool is_integer;
	int64_t value;
} integers[] = {
	{"0", true, 0},
	{"7", true, 7},
	{"-1", true, -1},
	{"3113936", true, 3113936},
	{"9223372036854775807", true, INT64_MAX},
	{"-9223372036854775807", true, -INT64_MAX},
	{"9223372036854775808", false, 0},
	{"99999999999999999999", false, 0},
	{"", false, 0},
	{"-", false, 0},
	{"1.0", true, 1},
	{"1e3", true, 1000},
	{"-7.50e1", true, -75},
	{"-0", true, 0},
	{"0.0", true, 0},
	{"0000000000000000000000000007", true, 7},
	{"7.5", false, 0},
	{"1e-1", false, 0},
	{"1e19", false, 0},
	{"1e", false, 0},
	{"1.0x", false, 0},
	{"+1", false, 0},
	{"-+1", false, 0},
	{"--1", false, 0},
	{" 1", false, 0},
	{"null", false, 0},
	{"stream 7", false, 0},
};

START_TEST(integers_are_read_or_refused)
{
	size_t len = strlen(integers[_i].text);
	char *copy = slacked(integers[_i].text, len);
	for (int quoted = 0; quoted < 2; quoted++) {
		struct tp_json_slice piece =
			piece_of(copy, len, quoted ? TP_JSON_SLICE_TEXT : TP_JSON_SLICE_WORD);
		int64_t value = 0;
		ck_assert_int_eq(tp_json_slice_integer(&piece, &value), integers[_i].is_integer);
		ck_assert_int_eq(value, integers[_i].value);
		uint64_t most = 100;
		bool is_count = value >= 0 && value <= 100;
		ck_assert_uint_eq(tp_json_slice_count(&piece, most),
				  is_count ? (uint64_t)value : 0);
	}
	free(copy);
}
END_TEST

/* Microseconds as text, and the equivalent in ns: UINT64_MAX for invalid texts. */
static const struct {
	const char *text;
	uint64_t ns;
} times[] = {
	{"0", 0},
	{"1", 1000},
	{"0.001", 1},
	{"0.0009", 0},
	{"1661203462598738", UINT64_C(1661203462598738000)},
	{"1428625731896.179", UINT64_C(1428625731896179)},
	{"3743411222578.748", UINT64_C(3743411222578748)},
	{"9007199254740993.001", UINT64_C(9007199254740993001)},
	{"9223372036854775.807", UINT64_C(9223372036854775807)},
	{"9223372036854775.808", UINT64_MAX},
	{"9223372036854776", UINT64_MAX},
	{"99999999999999999999999", UINT64_MAX},
	{"1.9999", 1999},
	{"12.34567890123456789012345678901234567890", 12345},
	{"0.00000000000000000000000000000001", 0},
	{"00012", 12000},
	{"+5", 5000},
	{".5", 500},
	{"5.", 5000},
	{"1.661203462598738e+15", UINT64_C(1661203462598738000)},
	{"1661203462598738E0", UINT64_C(1661203462598738000)},
	{"25e-1", 2500},
	{"1e-3", 1},
	{"1e-4", 0},
	{"1e15", UINT64_C(1000000000000000000)},
	{"1e16", UINT64_MAX},
	{"1e999999999999", UINT64_MAX},
	{"1e-999999999999", 0},
	{"0e999999999999", 0},
	{"12345678901234567890123e-10", UINT64_C(1234567890123456)},
	{"-1", UINT64_MAX},
	{"-0.5", UINT64_MAX},
	{"", UINT64_MAX},
	{".", UINT64_MAX},
	{"e5", UINT64_MAX},
	{"1e", UINT64_MAX},
	{"1e+", UINT64_MAX},
	{"1.2.3", UINT64_MAX},
	{"0x10", UINT64_MAX},
	{"NaN", UINT64_MAX},
	{"Infinity", UINT64_MAX},
	{"null", UINT64_MAX},
	{"12 34", UINT64_MAX},
};

START_TEST(times_are_exact_to_the_nanosecond)
{
	size_t len = strlen(times[_i].text);
	char *copy = slacked(times[_i].text, len);
	struct tp_json_slice piece = piece_of(copy, len, TP_JSON_SLICE_WORD);
	uint64_t ns = UINT64_MAX;
	ck_assert_int_eq(tp_json_slice_time_ns(&piece, &ns), times[_i].ns != UINT64_MAX);
	if (times[_i].ns != UINT64_MAX)
		ck_assert_uint_eq(ns, times[_i].ns);
	/* As seconds the same digits are a million times as large, if that fits. */
	if (times[_i].ns == UINT64_MAX)
		ck_assert(!tp_json_slice_seconds_ns(&piece, &ns));
	else if (tp_json_slice_seconds_ns(&piece, &ns))
		ck_assert_uint_eq(ns / 1000000, times[_i].ns);
	piece.type = TP_JSON_SLICE_OBJECT;
	ck_assert(!tp_json_slice_time_ns(&piece, &ns));
	ck_assert(!tp_json_slice_seconds_ns(&piece, &ns));
	free(copy);
}
END_TEST

/* ---- texts ---- */

static const struct {
	const char *json;
	const char *text;
} texts[] = {
	{"", ""},
	{"plain", "plain"},
	{"a text longer than sixteen bytes, plain", "a text longer than sixteen bytes, plain"},
	{"\\\"quoted\\\" \\\\ \\/", "\"quoted\" \\ /"},
	{"line\\nbreak\\ttab", "line break tab"},
	{"raw\nbreak\x7f", "raw break "},
	{"\\u0041\\u00e9\\u20ac", "Aé€"},
	{"\\ud83d\\ude00", "\xf0\x9f\x98\x80"},
	{"\\ud83d", "\xef\xbf\xbd"},
	{"\\ud83dx", "\xef\xbf\xbdx"},
	{"\\ude00", "\xef\xbf\xbd"},
	{"\\ud83d\\u0041", "\xef\xbf\xbd"
			   "A"},
	{"\\u0000", " "},
	{"\\u12", "\\u12"},
	{"\\uzzzz", "\\uzzzz"},
	{"C:\\dir\\x", "C:\\dir\\x"},
	{"caf\xc3\xa9", "café"},
	{"bad \xff\xfe utf", "bad \xef\xbf\xbd\xef\xbf\xbd utf"},
	{"cut \xe2\x82", "cut \xef\xbf\xbd\xef\xbf\xbd"},
};

START_TEST(texts_lose_their_escapes_and_become_utf8)
{
	struct tp_buf scratch = {0};
	size_t json_len = strlen(texts[_i].json);
	char *copy = slacked(texts[_i].json, json_len);
	struct tp_json_slice piece = piece_of(copy, json_len, TP_JSON_SLICE_TEXT);
	size_t len;
	const char *got = tp_json_slice_text(&piece, &scratch, &len);
	ck_assert_uint_eq(len, strlen(texts[_i].text));
	ck_assert_msg(memcmp(got, texts[_i].text, len) == 0, "'%.*s' is not '%s'", (int)len, got,
		      texts[_i].text);
	piece.type = TP_JSON_SLICE_WORD;
	(void)tp_json_slice_text(&piece, &scratch, &len);
	ck_assert_uint_eq(len, 0);
	tp_buf_release(&scratch);
	free(copy);
}
END_TEST

#define LOOP(tc, test, table) tcase_add_loop_test(tc, test, 0, sizeof(table) / sizeof((table)[0]))

Suite *suite_import_json_walk(void);
Suite *suite_import_json_walk(void)
{
	Suite *suite = suite_create("import/jsonwalk");
	TCase *tc = tcase_create("jsonwalk");
	tcase_add_test(tc, vectors_find_what_loops_find);
	tcase_add_test(tc, vectors_compare_as_loops_do);
	tcase_add_test(tc, short_texts_and_numbers_end_where_long_ones_do);
	LOOP(tc, members_come_one_after_the_other, objects);
	tcase_add_test(tc, what_is_no_parent_has_no_members);
	tcase_add_test(tc, of_equal_keys_the_last_is_found);
	LOOP(tc, integers_are_read_or_refused, integers);
	LOOP(tc, times_are_exact_to_the_nanosecond, times);
	LOOP(tc, texts_lose_their_escapes_and_become_utf8, texts);
	suite_add_tcase(suite, tc);
	return suite;
}
