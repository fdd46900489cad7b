/* SPDX-License-Identifier: Apache-2.0 */
/* Tests splitting documents into events, wherever the bytes end and however large the events
 * are. */
#include "giver.h"
#include "import/json/json_scan.h"
#include "import/strictparser.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/stream.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Writes each item as a letter and its text: "e{...};m key value;j;h;" and "cut" at the end. */
static void scan_to(struct tp_buf *out, const char *bytes, size_t size)
{
	struct giver giver = {bytes, size};
	struct tp_stream *stream = tp_stream_from_source(give, &giver);
	struct tp_json_scan scan;
	struct tp_json_slice key;
	struct tp_json_slice value;
	enum tp_json_scan_item item;
	tp_json_scan_init(&scan, stream);
	while ((item = tp_json_scan_next(&scan, &key, &value)) != TP_JSON_SCAN_END) {
		tp_buf_putc(out, " emjh"[item]);
		if (item == TP_JSON_SCAN_MEMBER) {
			tp_buf_add(out, key.text, key.len);
			tp_buf_putc(out, ' ');
		}
		if (item == TP_JSON_SCAN_MEMBER || item == TP_JSON_SCAN_EVENT)
			tp_buf_add(out, value.text, value.len);
		tp_buf_putc(out, ';');
	}
	ck_assert_int_eq(tp_json_scan_next(&scan, &key, &value), TP_JSON_SCAN_END);
	tp_buf_puts(out, scan.is_cut ? "cut" : "");
	tp_buf_puts(out, scan.has_list ? "" : " no list");
	tp_json_scan_release(&scan);
	tp_stream_close(stream);
}

static const struct {
	const char *json;
	const char *items;
} documents[] = {
	{"{\"traceEvents\":[{\"a\":1},{\"b\":2}]}", "e{\"a\":1};e{\"b\":2};"},
	{"{\"v\":1,\"traceEvents\":[{}],\"t\":\"x\",\"o\":{\"p\":[]}}",
	 "mv 1;e{};mt x;mo {\"p\":[]};"},
	{"[{\"a\":1},{\"b\":2}]", "e{\"a\":1};e{\"b\":2};"},
	{"[]", ""},
	{"\xef\xbb\xbf \n[{}]", "e{};"},
	{"{}", " no list"},
	{"{\"traceEvents\":null}", "mtraceEvents null; no list"},
	{"{\"traceEvents\":{}}", "mtraceEvents {}; no list"},
	{"{\"traceEvents\":[{}],\"traceEvents\":[{\"a\":1}]}", "e{};e{\"a\":1};"},
	{"{\"o\":{\"traceEvents\":[{}]}}", "mo {\"traceEvents\":[{}]}; no list"},
	{"{\"traceEvents\"  :\n [ {} , {} , ] }", "e{};e{};"},
	{"{\"traceEvents\":[{}{}]}", "e{};e{};"},
	{"{\"traceEvents\":[1,\"x\",[2,{}],null,{}]}", "j;j;j;j;e{};"},
	{"{\"traceEvents\":[{}],} trailing", "e{};"},
	{"[{\"a\":\"]}\\\"\"}]", "e{\"a\":\"]}\\\"\"};"},
	/* Only the closing bracket of a bare list may be missing; anything else counts as a cut. */
	{"[{}", "e{};"},
	{"[{},", "e{};"},
	{"[{},{", "e{};cut"},
	{"[", ""},
	{"{\"traceEvents\":[{}]", "e{};cut"},
	{"{\"traceEvents\":[{}", "e{};cut"},
	{"{\"traceEvents\":[{},{\"a\":\"b", "e{};cut"},
	{"{\"traceEvents\":", "cut no list"},
	{"{\"traceEvents", "cut no list"},
	{"{", "cut no list"},
	{"{\"a\":12", "ma 12;cut no list"},
	/* Not JSON, or not a trace. */
	{"", " no list"},
	{"   ", " no list"},
	{"<html>", " no list"},
	{"5", " no list"},
	/* An extra bracket ends nothing that exists. */
	{"[}{}]", "j;e{};"},
	{"{\"traceEvents\":[{}]]}", "e{};cut"},
	{"{\"no colon\" 5, \"traceEvents\":[{}]}", "mno colon 5;e{};"},
};

START_TEST(events_and_members_come_in_order)
{
	struct tp_buf got = {0};
	scan_to(&got, documents[_i].json, strlen(documents[_i].json));
	ck_assert_str_eq(tp_buf_text(&got), documents[_i].items);
	tp_buf_release(&got);
}
END_TEST

/* A document whose events have all lengths around that of the window's blocks. */
static void put_document(struct tp_buf *out, size_t n_events, size_t longest)
{
	tp_buf_puts(out, "{\"schemaVersion\":1,\n\"traceEvents\":[");
	for (size_t i = 0; i < n_events; i++) {
		tp_buf_printf(out, "%s\n{\"n\":%zu,\"text\":\"", i ? "," : "", i);
		tp_buf_pad(out, '\\', 2 * (i % 40));
		tp_buf_pad(out, 'x', i * 31 % longest);
		tp_buf_puts(out, "\",\"l\":[{},[]]}");
	}
	tp_buf_puts(out, "],\"end\":true}");
}

/* Counts events whose numbers are in sequence. */
static size_t count_events(const char *bytes, size_t size, bool *is_cut)
{
	struct giver giver = {bytes, size};
	struct tp_stream *stream = tp_stream_from_source(give, &giver);
	struct tp_json_scan scan;
	struct tp_json_slice key;
	struct tp_json_slice value;
	enum tp_json_scan_item item;
	size_t n = 0;
	tp_json_scan_init(&scan, stream);
	while ((item = tp_json_scan_next(&scan, &key, &value)) != TP_JSON_SCAN_END) {
		if (item != TP_JSON_SCAN_EVENT)
			continue;
		struct tp_json_slice number = tp_json_slice_find(&value, "n");
		ck_assert_uint_eq(tp_json_slice_count(&number, SIZE_MAX), n);
		n++;
	}
	*is_cut = scan.is_cut;
	ck_assert_uint_le(scan.capacity, TP_JSON_SCAN_WINDOW_MAX);
	tp_json_scan_release(&scan);
	tp_stream_close(stream);
	return n;
}

START_TEST(a_document_larger_than_the_window_comes_whole)
{
	struct tp_buf text = {0};
	bool is_cut;
	put_document(&text, 20000, 700);
	ck_assert_uint_gt(text.len, 10 * TP_JSON_SCAN_WINDOW);
	ck_assert_uint_eq(count_events(text.data, text.len, &is_cut), 20000);
	ck_assert(!is_cut);
	tp_buf_release(&text);
}
END_TEST

START_TEST(cut_anywhere_all_whole_events_come)
{
	struct tp_buf text = {0};
	bool is_cut;
	put_document(&text, 60, 90);
	size_t before = 0;
	for (size_t cut = 0; cut < text.len; cut++) {
		size_t n = count_events(text.data, cut, &is_cut);
		ck_assert_uint_ge(n, before);
		ck_assert(is_cut || cut == 0);
		before = n;
	}
	ck_assert_uint_eq(before, 60);
	tp_buf_release(&text);
}
END_TEST

/* Between small events: larger than the first window, and larger than the maximum. */
static const struct {
	size_t size;
	const char *items;
} larges[] = {
	{TP_JSON_SCAN_WINDOW - 20, "eee"},     {TP_JSON_SCAN_WINDOW, "eee"},
	{3 * TP_JSON_SCAN_WINDOW, "eee"},      {TP_JSON_SCAN_WINDOW_MAX - 100, "eee"},
	{TP_JSON_SCAN_WINDOW_MAX + 1, "ehe"},  {TP_JSON_SCAN_WINDOW_MAX + 100000, "ehe"},
	{3U * TP_JSON_SCAN_WINDOW_MAX, "ehe"},
};

/* Filled with brackets, a string, or escaped quotes. */
static void put_large(struct tp_buf *out, int shape, size_t size)
{
	size_t from = out->len;
	tp_buf_puts(out, shape == 0 ? "{\"a\":[" : "{\"a\":\"");
	size_t end = 2;
	while (out->len - from < size - end - 1)
		tp_buf_puts(out, shape == 0 ? "1," : shape == 1 ? "]}" : "\\\"");
	if (out->len - from < size - end)
		tp_buf_putc(out, shape == 0 ? ' ' : 'x');
	tp_buf_puts(out, shape == 0 ? "]}" : "\"}");
}

START_TEST(what_is_too_large_is_passed_over)
{
	for (int shape = 0; shape < 3; shape++) {
		struct tp_buf text = {0};
		struct tp_buf got = {0};
		tp_buf_puts(&text, "[{},");
		put_large(&text, shape, larges[_i].size);
		tp_buf_puts(&text, ",{}]");
		scan_to(&got, text.data, text.len);
		/* The input has only letters. */
		char items[4] = {tp_buf_text(&got)[0], 0, 0, 0};
		items[1] = tp_buf_text(&got)[4];
		items[2] = got.len > 4 ? got.data[got.len - 4] : ' ';
		ck_assert_str_eq(items, larges[_i].items);
		tp_buf_release(&text);
		tp_buf_release(&got);
	}
}
END_TEST

START_TEST(a_member_that_is_too_large_has_no_value)
{
	struct tp_buf text = {0};
	struct tp_buf got = {0};
	tp_buf_puts(&text, "{\"stackFrames\":");
	put_large(&text, 1, TP_JSON_SCAN_WINDOW_MAX + 5000000U);
	tp_buf_puts(&text, ",\"traceEvents\":[{}]}");
	scan_to(&got, text.data, text.len);
	ck_assert_str_eq(tp_buf_text(&got), "mstackFrames ;e{};");
	tp_buf_release(&text);
	tp_buf_release(&got);
}
END_TEST

START_TEST(what_is_too_large_and_cut_is_a_cut)
{
	struct tp_buf text = {0};
	bool is_cut;
	tp_buf_puts(&text, "[{\"n\":0},");
	put_large(&text, 1, TP_JSON_SCAN_WINDOW_MAX + 5000000U);
	ck_assert_uint_eq(count_events(text.data, text.len - 2, &is_cut), 1);
	ck_assert(is_cut);
	tp_buf_release(&text);
}
END_TEST

static const struct {
	const char *head;
	bool is_ours;
} heads[] = {
	{"{", true},
	{"[", true},
	{" \n\t{", true},
	{"\xef\xbb\xbf{", true},
	{"", false},
	{"   ", false},
	{"<html>", false},
	{"SQLite format 3", false},
	{"\xef\xbb\xbf", false},
	{"\"text\"", false},
};

START_TEST(json_is_recognised_by_its_first_letter)
{
	ck_assert_int_eq(tp_json_scan_probe((const unsigned char *)heads[_i].head,
					    strlen(heads[_i].head)),
			 heads[_i].is_ours);
}
END_TEST

/* ---- comparison with a strict parser ---- */

/* Events that writers of traces have produced or might produce; start of the mutations. */
static const char *const nasty[] = {
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":1.5,\"dur\":2,"
	"\"args\":{\"device\":0,\"stream\":7,\"grid\":[1,2,3],\"Process Group Ranks\":\"[0, 1]\"}}",
	"{}",
	"{ }",
	"{\n\t\"a\"\r:\n1\t,\"b\" : [ ] , \"c\" : { } }",
	"{\"n\\u0061me\":\"\\u0061\\u00e9\\u20ac\\ud83d\\ude00\",\"\\u0074s\":1}",
	"{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}",
	"{\"a\":\"\\\\\",\"b\":\"\\\\\\\"\",\"c\":\"}]\\\"{[\"}",
	"{\"\":\"\",\"\":{\"\":[\"\"]}}",
	"{\"a\":\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\",\"\xc3\xa9\":1}",
	"{\"a\":\"\x01\x02\x1f\x7f \x0c\x0b\",\"b\":\"\n\r\t\"}",
	"{\"a\":\"\xff\xfe\xc3\x28\x80\"}",
	"{\"a\":\"\\u0000b\\u001f\"}",
	"{\"a\":1,\"a\":2,\"a\":{\"a\":3}}",
	"{\"ts\":1e3,\"dur\":1E+3,\"c\":1.5e-3,\"d\":1e-400,\"e\":1e400,\"f\":0e0}",
	"{\"ts\":-0,\"dur\":-0.0,\"c\":-1,\"d\":-1.5e2,\"e\":0.0000000000001}",
	"{\"ts\":9007199254740993,\"dur\":9223372036854775807,\"c\":18446744073709551616}",
	"{\"ts\":123456789012345678901234567890,\"dur\":0."
	"1234567890123456789012345678901234567890}",
	"{\"pid\":7.0,\"tid\":1e2,\"c\":7.50,\"d\":100000000000000000000e-18,\"e\":1.0e1}",
	"{\"a\":01,\"b\":1.,\"c\":-1.e1}",
	"{\"a\":true,\"b\":false,\"c\":null,\"d\":[true,false,null,1,\"x\",[],{}]}",
	"{\"a\":[[[[[[[[[[[[[[[[{\"b\":[[[[]]]]}]]]]]]]]]]]]]]]],\"c\":{\"d\":{\"e\":{\"f\":{}}}}}",
	"{\"a\":[\"]\",\"}\",\"\\\"]\",{\"}\":\"{\"}],\"b\":\"[[[[[[[[\"}",
	"{\"args\":{\"External id\":12,\"Input Dims\":[[1,2],[],[\"a\"]]},\"ts\":1,\"dur\":2}",
	"{\"a key that is longer than any word of the masks, forty bytes and more, to cross them\":"
	"\"and a text that is longer than any word of the masks, with \\\" in it, to cross them "
	"too\"}",
};

/* Strict parsers reject these, but they occur in practice. */
static const char *const lenient[] = {
	"{\"a\":NaN,\"b\":Infinity,\"c\":-Infinity}",
	"{\"a\":1,}",
	"{\"a\":,\"b\":1}",
	"{\"a\":\"\\d\\x\"}",
	"{\"a\":\"\\ud83d\"}",
};

START_TEST(what_a_strict_parser_accepts_is_read_alike)
{
	ck_assert_msg(strictparser_agrees(nasty[_i], strlen(nasty[_i])), "is not strict: %s",
		      nasty[_i]);
}
END_TEST

START_TEST(some_that_no_strict_parser_accepts_are_read_too)
{
	struct tp_buf document = {0};
	struct tp_buf items = {0};
	ck_assert(!strictparser_agrees(lenient[_i], strlen(lenient[_i])));
	tp_buf_printf(&document, "[%s]", lenient[_i]);
	scan_to(&items, document.data, document.len);
	tp_buf_clear(&document);
	tp_buf_printf(&document, "e%s;", lenient[_i]);
	ck_assert_str_eq(items.data, document.data);
	tp_buf_release(&items);
	tp_buf_release(&document);
}
END_TEST

/* Replaces a byte, removes some, or inserts a part of another event. */
static void mutate(struct tp_buf *text, uint64_t *state)
{
	static const char bytes[] = "{}[]\",:\\u0019eE+-. \n\x01\xc3\xa9natrfl";
	*state = tp_hash_mix(*state, 1);
	size_t at = *state % text->len;
	size_t n = (*state >> 20) % 8;
	const char *other = nasty[(*state >> 28) % TP_ARRAY_LEN(nasty)];
	size_t from = (*state >> 36) % strlen(other);
	struct tp_buf out = {0};
	tp_buf_add(&out, text->data, at);
	switch ((*state >> 60) % 4) {
	case 0:
		tp_buf_putc(&out, bytes[(*state >> 44) % (sizeof(bytes) - 1)]);
		tp_buf_add(&out, text->data + at + 1, text->len - at - 1);
		break;
	case 1:
		n = n < text->len - at ? n : text->len - at;
		tp_buf_add(&out, text->data + at + n, text->len - at - n);
		break;
	case 2:
		tp_buf_putc(&out, bytes[(*state >> 44) % (sizeof(bytes) - 1)]);
		tp_buf_add(&out, text->data + at, text->len - at);
		break;
	default:
		n = n < strlen(other) - from ? n : strlen(other) - from;
		tp_buf_add(&out, other + from, n);
		tp_buf_add(&out, text->data + at, text->len - at);
		break;
	}
	tp_buf_release(text);
	*text = out;
}

/* The same mutations every time. */
START_TEST(mutated_events_are_read_alike_where_they_are_accepted)
{
	enum { ROUNDS = 1500, CHANGES_MOST = 4, LEAST = 50 };
	uint64_t state = (uint64_t)_i + 1;
	size_t n_accepted = 0;
	for (int i = 0; i < ROUNDS; i++) {
		struct tp_buf text = {0};
		tp_buf_puts(&text, nasty[_i]);
		for (int k = 0; k <= i % CHANGES_MOST && text.len; k++)
			mutate(&text, &state);
		n_accepted += text.len && strictparser_agrees(text.data, text.len);
		tp_buf_release(&text);
	}
	/* Otherwise nothing was compared. Few changes of "{}" leave an event. */
	ck_assert_uint_ge(n_accepted, strlen(nasty[_i]) > 20 ? LEAST : 1);
}
END_TEST

#define LOOP(tc, test, table) tcase_add_loop_test(tc, test, 0, sizeof(table) / sizeof((table)[0]))

/* Lists of entered members yield their objects with their key; other members are returned as
 * members, or skipped. */
START_TEST(members_that_a_table_names_are_entered)
{
	static const struct tp_json_scan_enter enter[] = {{"tool", true},
							  {"records", false},
							  {"a", false},
							  {"b", false}};
	static const char text[] =
		"{\"tool\":[{\"meta\":{\"pid\":7},\"a\":[{\"x\":1},{\"x\":2}],\"records\":"
		"{\"b\":[{\"y\":3}],\"c\":[{\"z\":4}]}},{\"a\":[5]}],\"rest\":1}";
	struct giver giver = {text, sizeof(text) - 1};
	struct tp_stream *stream = tp_stream_from_source(give, &giver);
	struct tp_json_scan scan;
	struct tp_json_slice key;
	struct tp_json_slice value;
	enum tp_json_scan_item item;
	char seen[128] = "";
	tp_json_scan_init(&scan, stream);
	scan.enter = enter;
	scan.n_enter = sizeof(enter) / sizeof(enter[0]);
	while ((item = tp_json_scan_next(&scan, &key, &value)) != TP_JSON_SCAN_END) {
		if (item != TP_JSON_SCAN_JUNK)
			strncat(seen, key.text, key.len);
		strcat(seen, item == TP_JSON_SCAN_EVENT    ? "! "
			     : item == TP_JSON_SCAN_MEMBER ? ". "
							   : "? ");
	}
	ck_assert_str_eq(seen, "meta. a! a! b! c. ? rest. ");
	ck_assert(!scan.is_cut);
	tp_json_scan_release(&scan);
	tp_stream_close(stream);
}
END_TEST

Suite *suite_import_json_scan(void);
Suite *suite_import_json_scan(void)
{
	Suite *suite = suite_create("import/jsonscan");
	TCase *tc = tcase_create("jsonscan");
	LOOP(tc, events_and_members_come_in_order, documents);
	tcase_add_test(tc, a_document_larger_than_the_window_comes_whole);
	tcase_add_test(tc, cut_anywhere_all_whole_events_come);
	LOOP(tc, what_is_too_large_is_passed_over, larges);
	tcase_add_test(tc, a_member_that_is_too_large_has_no_value);
	tcase_add_test(tc, what_is_too_large_and_cut_is_a_cut);
	LOOP(tc, json_is_recognised_by_its_first_letter, heads);
	tcase_add_loop_test(tc, what_a_strict_parser_accepts_is_read_alike, 0, TP_ARRAY_LEN(nasty));
	tcase_add_loop_test(tc, some_that_no_strict_parser_accepts_are_read_too, 0,
			    TP_ARRAY_LEN(lenient));
	tcase_add_loop_test(tc, mutated_events_are_read_alike_where_they_are_accepted, 0,
			    TP_ARRAY_LEN(nasty));
	tcase_add_test(tc, members_that_a_table_names_are_entered);
	suite_add_tcase(suite, tc);
	return suite;
}
