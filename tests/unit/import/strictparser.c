/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the results of two parsers. */
#include "strictparser.h"

#include "giver.h"
#include "import/json/json_scan.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/stream.h"
#include "trainprof/base/text.h"

#include <check.h>
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Converts texts like the scanner: control characters to spaces, and UTF-8. */
static void tidy_text(struct tp_buf *out, const char *text)
{
	struct tp_buf raw = {0};
	tp_buf_puts(&raw, text);
	for (size_t i = 0; i < raw.len; i++)
		if ((unsigned char)raw.data[i] < ' ' || raw.data[i] == 0x7f)
			raw.data[i] = ' ';
	tp_buf_clear(out);
	tp_text_add_utf8(out, tp_buf_text(&raw));
	tp_buf_release(&raw);
}

/* cJSON's texts end at an escaped NUL, and it reads "\u12" with less than four digits as one. */
static bool ends_early(const struct tp_json_slice *piece)
{
	const char *end = piece->text + piece->len;
	for (const char *p = piece->text; p + 1 < end; p++) {
		if (*p != '\\')
			continue;
		if (*++p == 'u' && (end - p < 5 || strspn(p + 1, "0123456789abcdefABCDEF") < 4 ||
				    memcmp(p + 1, "0000", 4) == 0))
			return true;
	}
	return false;
}

static bool is_same_text(const struct tp_json_slice *piece, const char *expected)
{
	struct tp_buf scratch = {0};
	struct tp_buf tidy = {0};
	size_t len;
	const char *text = tp_json_slice_text(piece, &scratch, &len);
	tidy_text(&tidy, expected);
	bool is_same = ends_early(piece) ||
		       (len == tidy.len && memcmp(text, tp_buf_text(&tidy), len) == 0);
	tp_buf_release(&scratch);
	tp_buf_release(&tidy);
	return is_same;
}

static void compare_number(const struct tp_json_slice *piece, double expected)
{
	uint64_t time_ns;
	int64_t whole;
	bool is_time = expected >= 0 && expected < 9e15; /* us, below 2^63 ns */
	bool has_time = tp_json_slice_time_ns(piece, &time_ns);
	ck_assert_msg(!is_time || has_time, "no time: %.*s", (int)piece->len, piece->text);
	if (is_time)
		ck_assert_msg(fabs((double)time_ns - expected * 1000) <= 1 + expected * 1e-12,
			      "%.*s is not %llu ns", (int)piece->len, piece->text,
			      (unsigned long long)time_ns);
	/* Below 2^53 a double is as exact as the text, except for digits that it cannot hold. */
	bool is_whole = fabs(expected) < 9007199254740992.0 && floor(expected) >= expected &&
			piece->len < 16;
	bool has_whole = tp_json_slice_integer(piece, &whole);
	if (is_whole && fpclassify(expected) != FP_SUBNORMAL &&
	    !(fpclassify(expected) == FP_ZERO && memchr(piece->text, 'e', piece->len)))
		ck_assert_msg(has_whole && fabs((double)whole - expected) < 0.5,
			      "no whole number: %.*s", (int)piece->len, piece->text);
}

static void compare_value(const struct tp_json_slice *piece, const cJSON *expected);

/* Compares the strict parser's members one by one: all exist, in this order, and no others. */
static void compare_members(const struct tp_json_slice *parent, const cJSON *expected)
{
	struct tp_json_walk walk = tp_json_walk_init(parent);
	struct tp_json_slice key;
	struct tp_json_slice value;
	for (const cJSON *item = expected->child; item; item = item->next) {
		ck_assert_msg(tp_json_walk_next(&walk, &key, &value), "ends before '%s': %.*s",
			      item->string ? item->string : "", (int)parent->len, parent->text);
		ck_assert_msg(!item->string || is_same_text(&key, item->string),
			      "the key '%.*s' is not '%s'", (int)key.len, key.text, item->string);
		compare_value(&value, item);
	}
	ck_assert_msg(!tp_json_walk_next(&walk, &key, &value) && !walk.is_malformed,
		      "goes on behind its end: %.*s", (int)parent->len, parent->text);
}

static void compare_value(const struct tp_json_slice *piece, const cJSON *expected)
{
	if (cJSON_IsString(expected)) {
		ck_assert_int_eq(piece->type, TP_JSON_SLICE_TEXT);
		ck_assert_msg(is_same_text(piece, expected->valuestring), "'%.*s' is not '%s'",
			      (int)piece->len, piece->text, expected->valuestring);
	} else if (cJSON_IsObject(expected) || cJSON_IsArray(expected)) {
		ck_assert_int_eq(piece->type, cJSON_IsObject(expected) ? TP_JSON_SLICE_OBJECT
								       : TP_JSON_SLICE_LIST);
		compare_members(piece, expected);
	} else {
		ck_assert_int_eq(piece->type, TP_JSON_SLICE_WORD);
		if (cJSON_IsNumber(expected))
			compare_number(piece, expected->valuedouble);
	}
}

/* Scans the event between two others that must stay unchanged. */
static void compare_event(const char *text, size_t len, const cJSON *expected)
{
	static const char before[] = "{\"traceEvents\": [{\"a\": 1}, ";
	static const char after[] = ", {\"b\": 2}]}";
	struct tp_buf document = {0};
	struct tp_json_scan scan;
	struct tp_json_slice key;
	struct tp_json_slice value;
	tp_buf_puts(&document, before);
	tp_buf_add(&document, text, len);
	tp_buf_puts(&document, after);
	struct giver giver = {document.data, document.len};
	struct tp_stream *stream = tp_stream_from_source(give, &giver);
	tp_json_scan_init(&scan, stream);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(tp_json_scan_next(&scan, &key, &value), TP_JSON_SCAN_EVENT);
		if (i == 1)
			compare_value(&value, expected);
		else
			ck_assert_uint_eq(value.len, strlen("{\"a\": 1}"));
	}
	ck_assert_int_eq(tp_json_scan_next(&scan, &key, &value), TP_JSON_SCAN_END);
	ck_assert(!scan.is_cut);
	tp_json_scan_release(&scan);
	tp_stream_close(stream);
	tp_buf_release(&document);
}

bool strictparser_agrees(const char *text, size_t len)
{
	const char *end = NULL;
	cJSON *root = cJSON_ParseWithLengthOpts(text, len, &end, false);
	/* Text after the object would be another entry of the list. */
	bool is_event = root && cJSON_IsObject(root) && end == text + len && text[0] == '{';
	if (is_event)
		compare_event(text, len, root);
	cJSON_Delete(root);
	return is_event;
}
