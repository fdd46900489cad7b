/* Claims about cutting documents into events, wherever the bytes end and however large they are. */
#include "import/jsonscan.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/stream.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

struct giver {
	const char *bytes;
	size_t size;
	size_t at;
};

static size_t give(void *context, void *out, size_t size)
{
	struct giver *giver = context;
	size_t left = giver->size - giver->at;
	size_t n = size < left ? size : left;
	if (n)
		memcpy(out, giver->bytes + giver->at, n);
	giver->at += n;
	return n;
}

/* Each item as a letter and its text: "e{...};m key value;j;h;" and "cut" at the end. */
static void scan_to(struct tp_buf *out, const char *bytes, size_t size)
{
	struct giver giver = {bytes, size, 0};
	struct tp_stream *stream = tp_stream_over(give, &giver);
	struct tp_json_scan scan;
	struct tp_piece key;
	struct tp_piece value;
	enum tp_scan_item item;
	tp_json_scan_init(&scan, stream);
	while ((item = tp_json_scan_next(&scan, &key, &value)) != TP_SCAN_END) {
		tp_buf_putc(out, " emjh"[item]);
		if (item == TP_SCAN_MEMBER) {
			tp_buf_add(out, key.text, key.len);
			tp_buf_putc(out, ' ');
		}
		if (item == TP_SCAN_MEMBER || item == TP_SCAN_EVENT)
			tp_buf_add(out, value.text, value.len);
		tp_buf_putc(out, ';');
	}
	ck_assert_int_eq(tp_json_scan_next(&scan, &key, &value), TP_SCAN_END);
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
	/* The closing bracket of a bare list may be left out; all else is a cut. */
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
	/* No JSON, or none of ours. */
	{"", " no list"},
	{"   ", " no list"},
	{"<html>", " no list"},
	{"5", " no list"},
	/* A bracket too many ends nothing that is there. */
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

/* A document whose events have every length around that of the window's blocks. */
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

/* Counts events whose numbers come in order. */
static size_t count_events(const char *bytes, size_t size, bool *is_cut)
{
	struct giver giver = {bytes, size, 0};
	struct tp_stream *stream = tp_stream_over(give, &giver);
	struct tp_json_scan scan;
	struct tp_piece key;
	struct tp_piece value;
	enum tp_scan_item item;
	size_t n = 0;
	tp_json_scan_init(&scan, stream);
	while ((item = tp_json_scan_next(&scan, &key, &value)) != TP_SCAN_END) {
		if (item != TP_SCAN_EVENT)
			continue;
		struct tp_piece number = tp_piece_find(&value, "n");
		ck_assert_uint_eq(tp_piece_count(&number, SIZE_MAX), n);
		n++;
	}
	*is_cut = scan.is_cut;
	ck_assert_uint_le(scan.capacity, TP_SCAN_WINDOW_MOST);
	tp_json_scan_release(&scan);
	tp_stream_close(stream);
	return n;
}

START_TEST(a_document_larger_than_the_window_comes_whole)
{
	struct tp_buf text = {0};
	bool is_cut;
	put_document(&text, 20000, 700);
	ck_assert_uint_gt(text.len, 10 * TP_SCAN_WINDOW);
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

/* In between small ones: larger than the first window, and larger than any may be. */
static const struct {
	size_t size;
	const char *items;
} larges[] = {
	{TP_SCAN_WINDOW - 20, "eee"},      {TP_SCAN_WINDOW, "eee"},
	{3 * TP_SCAN_WINDOW, "eee"},       {TP_SCAN_WINDOW_MOST - 100, "eee"},
	{TP_SCAN_WINDOW_MOST + 1, "ehe"},  {TP_SCAN_WINDOW_MOST + 100000, "ehe"},
	{3U * TP_SCAN_WINDOW_MOST, "ehe"},
};

/* Of brackets, of a string, of quotes that are escaped. */
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
		/* Only the letters. */
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
	put_large(&text, 1, TP_SCAN_WINDOW_MOST + 5000000U);
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
	put_large(&text, 1, TP_SCAN_WINDOW_MOST + 5000000U);
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
	ck_assert_int_eq(tp_json_scan_recognises((const unsigned char *)heads[_i].head,
						 strlen(heads[_i].head)),
			 heads[_i].is_ours);
}
END_TEST

#define LOOP(tc, test, table) tcase_add_loop_test(tc, test, 0, sizeof(table) / sizeof((table)[0]))

Suite *suite_import_jsonscan(void);
Suite *suite_import_jsonscan(void)
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
	suite_add_tcase(suite, tc);
	return suite;
}
