/* SPDX-License-Identifier: Apache-2.0 */
/* Checks JSON text by recursive descent, one function for each rule of RFC 8259. */
#include "json_text.h"

#include "trainprof/base/json.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct text_scan {
	const char *text; /* followed by a NUL */
	size_t len;
	size_t at;
	int depth;
	unsigned line;
	unsigned key_line;
	struct tp_json_places *places;
	struct tp_json_fault fault;
};

static bool scan_fail(struct text_scan *scan, const char *what)
{
	scan->fault.offset = scan->at;
	scan->fault.what = scan->at < scan->len ? what
			   : scan->places->n    ? "ends in the middle"
						: "is empty";
	return false;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static void scan_space(struct text_scan *scan)
{
	for (; is_space(scan->text[scan->at]); scan->at++)
		scan->line += scan->text[scan->at] == '\n';
}

static bool scan_char(struct text_scan *scan, char wanted)
{
	bool there = scan->text[scan->at] == wanted && scan->at < scan->len;
	scan->at += there;
	return there;
}

static size_t scan_digits(struct text_scan *scan)
{
	size_t n = strspn(scan->text + scan->at, "0123456789");
	scan->at += n;
	return n;
}

static bool scan_number(struct text_scan *scan)
{
	size_t start = scan->at;
	(void)scan_char(scan, '-');
	if (!scan_char(scan, '0') && !scan_digits(scan))
		return scan_fail(scan, "expected a digit");
	if (scan_char(scan, '.') && !scan_digits(scan))
		return scan_fail(scan, "expected a digit");
	if (scan_char(scan, 'e') || scan_char(scan, 'E')) {
		if (!scan_char(scan, '+'))
			(void)scan_char(scan, '-');
		if (!scan_digits(scan))
			return scan_fail(scan, "expected a digit");
	}
	if (isfinite(strtod(scan->text + start, NULL)))
		return true;
	scan->at = start;
	return scan_fail(scan, "number too large");
}

static bool scan_hex(struct text_scan *scan, unsigned *out)
{
	char digits[5] = "";
	memcpy(digits, scan->text + scan->at, strnlen(scan->text + scan->at, 4));
	if (strspn(digits, "0123456789abcdefABCDEF") != 4)
		return false;
	*out = (unsigned)strtoul(digits, NULL, 16);
	scan->at += 4;
	return true;
}

/* Parses the digits after "\u". Half of a surrogate pair must be followed by the other half. */
static bool scan_code_point(struct text_scan *scan)
{
	unsigned first;
	unsigned second = 0;
	size_t start = scan->at;
	if (!scan_hex(scan, &first))
		return scan_fail(scan, "expected four hexadecimal digits");
	bool is_high = first >= 0xd800 && first <= 0xdbff;
	if (is_high && strncmp(scan->text + scan->at, "\\u", 2) == 0) {
		scan->at += 2;
		if (!scan_hex(scan, &second))
			return scan_fail(scan, "expected four hexadecimal digits");
	}
	bool second_is_low = second >= 0xdc00 && second <= 0xdfff;
	if (first && is_high == second_is_low && !(first >= 0xdc00 && first <= 0xdfff))
		return true;
	scan->at = start;
	return scan_fail(scan, first ? "half of a surrogate pair" : "NUL in a string");
}

static bool scan_escape(struct text_scan *scan)
{
	if (scan_char(scan, 'u'))
		return scan_code_point(scan);
	if (scan->at < scan->len && strchr("\"\\/bfnrt", scan->text[scan->at])) {
		scan->at++;
		return true;
	}
	return scan_fail(scan, "no such escape");
}

/* True if the character stands for itself in a string. */
static bool is_plain(char c)
{
	return (unsigned char)c >= 0x20 && (unsigned char)c < 0x80 && c != '"' && c != '\\';
}

static bool scan_string(struct text_scan *scan)
{
	scan->at++;
	for (;;) {
		while (is_plain(scan->text[scan->at]))
			scan->at++;
		if (scan_char(scan, '"'))
			return true;
		const char *p = scan->text + scan->at;
		if (scan_char(scan, '\\')) {
			if (!scan_escape(scan))
				return false;
			continue;
		}
		if ((unsigned char)*p < 0x20)
			return scan_fail(scan, "control character in a string");
		size_t len = tp_text_utf8_length(p);
		if (!len)
			return scan_fail(scan, "not valid UTF-8");
		scan->at += len;
	}
}

static bool scan_value(struct text_scan *scan);

static bool scan_key(struct text_scan *scan)
{
	scan_space(scan);
	if (scan->text[scan->at] != '"')
		return scan_fail(scan, "expected a name in double quotes");
	scan->key_line = scan->line;
	if (!scan_string(scan))
		return false;
	scan_space(scan);
	return scan_char(scan, ':') || scan_fail(scan, "expected ':'");
}

static bool scan_members(struct text_scan *scan, bool is_object)
{
	char close = is_object ? '}' : ']';
	scan_space(scan);
	if (scan_char(scan, close))
		return true;
	for (;;) {
		if (is_object && !scan_key(scan))
			return false;
		if (!scan_value(scan))
			return false;
		scan_space(scan);
		if (scan_char(scan, close))
			return true;
		if (!scan_char(scan, ','))
			return scan_fail(scan,
					 is_object ? "expected ',' or '}'" : "expected ',' or ']'");
	}
}

/* The recursion is bounded here. */
static bool scan_container(struct text_scan *scan, bool is_object)
{
	if (++scan->depth > TP_JSON_MAX_DEPTH)
		return scan_fail(scan, "nested too deeply");
	scan->at++;
	if (!scan_members(scan, is_object))
		return false;
	scan->depth--;
	return true;
}

static bool scan_word(struct text_scan *scan)
{
	static const char *const words[] = {"true", "false", "null"};
	for (size_t i = 0; i < 3; i++) {
		if (tp_text_starts_with(scan->text + scan->at, words[i])) {
			scan->at += strlen(words[i]);
			return true;
		}
	}
	return scan_fail(scan, "expected a value");
}

static bool scan_value(struct text_scan *scan)
{
	struct tp_json_places *places = scan->places;
	scan_space(scan);
	TP_ARRAY_PUSH(places->items, places->n, places->capacity) =
		(struct tp_json_place){.line = scan->line, .key_line = scan->key_line};
	char c = scan->text[scan->at];
	if (c == '{' || c == '[')
		return scan_container(scan, c == '{');
	if (c == '"')
		return scan_string(scan);
	if (c == '-' || (c >= '0' && c <= '9'))
		return scan_number(scan);
	return scan_word(scan);
}

bool tp_json_text_is_valid(const char *text, size_t len, struct tp_json_places *places,
			   struct tp_json_fault *fault)
{
	struct text_scan scan = {.text = text, .len = len, .line = 1, .places = places};
	scan_space(&scan);
	bool good = scan.at < len ? scan_value(&scan) : scan_fail(&scan, NULL);
	if (good) {
		scan_space(&scan);
		if (scan.at < len)
			good = scan_fail(&scan, "text after the end");
	}
	if (!good)
		*fault = scan.fault;
	return good;
}
