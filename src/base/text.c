/* SPDX-License-Identifier: Apache-2.0 */
/* Nearest names, numbers with units, UTF-8 repair. */
#include "trainprof/base/text.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_NAME = 63 };

static unsigned min_of_three(unsigned a, unsigned b, unsigned c)
{
	unsigned least = a < b ? a : b;
	return least < c ? least : c;
}

unsigned tp_text_distance(const char *a, const char *b)
{
	size_t n = strnlen(a, LONGEST_NAME);
	size_t m = strnlen(b, LONGEST_NAME);
	unsigned rows[3][LONGEST_NAME + 1];
	for (unsigned j = 0; j <= m; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= n; i++) {
		unsigned *now = rows[i % 3];
		const unsigned *before = rows[(i + 2) % 3];
		const unsigned *older = rows[(i + 1) % 3];
		now[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned replace = before[j - 1] + (a[i - 1] != b[j - 1]);
			now[j] = min_of_three(before[j] + 1, now[j - 1] + 1, replace);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    older[j - 2] + 1 < now[j])
				now[j] = older[j - 2] + 1;
		}
	}
	return rows[n % 3][m];
}

const char *tp_text_closest(const char *word, const char *const *names, size_t n)
{
	unsigned limit = (unsigned)(strlen(word) / 3);
	if (limit < 2)
		limit = 2;
	const char *best = NULL;
	for (size_t i = 0; i < n; i++) {
		if (!names[i])
			continue;
		unsigned distance = tp_text_distance(word, names[i]);
		if (distance <= limit && distance < strlen(names[i])) {
			best = names[i];
			limit = distance ? distance - 1 : 0;
		}
	}
	return best;
}

struct unit {
	const char *name;
	double factor;
};

/* A finite number >= 0 followed by exactly one of the units. */
static bool parse_with_unit(const char *text, const struct unit *units, double *out)
{
	if (!strchr("0123456789.", text[0]) || !text[0])
		return false;
	char *end;
	errno = 0;
	double number = strtod(text, &end);
	if (errno || end == text || memchr(text, 'x', (size_t)(end - text)))
		return false;
	for (; units->name; units++) {
		if (strcmp(end, units->name) == 0) {
			*out = number * units->factor;
			return *out < 9.2e18;
		}
	}
	return false;
}

bool tp_text_parse_duration(const char *text, uint64_t *out_ns)
{
	static const struct unit units[] = {{"ns", 1},   {"us", 1e3},   {"ms", 1e6}, {"s", 1e9},
					    {"m", 60e9}, {"h", 3600e9}, {NULL, 0}};
	double value;
	if (!parse_with_unit(text, units, &value))
		return false;
	*out_ns = (uint64_t)(value + 0.5);
	return true;
}

bool tp_text_parse_size(const char *text, uint64_t *out_bytes)
{
	static const struct unit units[] = {
		{"B", 1},      {"kB", 1e3},      {"MB", 1e6},         {"GB", 1e9},
		{"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}, {"TiB", 1099511627776.0},
		{NULL, 0}};
	double value;
	if (!parse_with_unit(text, units, &value))
		return false;
	*out_bytes = (uint64_t)(value + 0.5);
	return true;
}

bool tp_text_parse_percent(const char *text, double *out_ratio)
{
	static const struct unit units[] = {{"%", 0.01}, {NULL, 0}};
	return parse_with_unit(text, units, out_ratio);
}

bool tp_text_parse_rate(const char *text, double *out_hz)
{
	static const struct unit units[] = {{"Hz", 1}, {"kHz", 1e3}, {"", 1}, {NULL, 0}};
	return parse_with_unit(text, units, out_hz);
}

bool tp_text_parse_count(const char *text, uint64_t *out)
{
	if (text[0] < '0' || text[0] > '9')
		return false;
	char *end;
	errno = 0;
	uint64_t value = strtoull(text, &end, 10);
	if (errno || *end)
		return false;
	*out = value;
	return true;
}

bool tp_text_parse_pid(const char *text, pid_t *out)
{
	uint64_t value;
	if (!tp_text_parse_count(text, &value) || value < 1 || value > INT_MAX)
		return false;
	*out = (pid_t)value;
	return true;
}

size_t tp_text_utf8_length(const char *text)
{
	/* The syntax of RFC 3629, section 4. */
	const unsigned char *p = (const unsigned char *)text;
	if (p[0] < 0x80)
		return 1;
	size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	unsigned char low = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
	unsigned char high = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;
	if (p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return len;
}

void tp_text_add_utf8(struct tp_buf *out, const char *text)
{
	while (*text) {
		size_t len = tp_text_utf8_length(text);
		if (len)
			tp_buf_add(out, text, len);
		else
			tp_buf_puts(out, "\xef\xbf\xbd");
		text += len ? len : 1;
	}
}

/* Unicode 15, UAX #9: marks, embeddings, overrides and isolates of bidirectional text. */
static bool is_direction(unsigned long c)
{
	return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

size_t tp_text_unsafe_length(const char *text)
{
	enum { LINE_SEPARATOR = 0x2028, PARAGRAPH_SEPARATOR = 0x2029 };
	const unsigned char *p = (const unsigned char *)text;
	if (p[0] < 0x80)
		return p[0] && (p[0] < 0x20 || p[0] == 0x7f);
	size_t len = p[0] < 0xe0 ? 2 : 3;
	if (p[0] < 0xc0 ||
	    p[0] >= 0xf0) /* inside of a character; no such character exists beyond U+FFFF */
		return 0;
	unsigned long c = len == 2 ? (p[0] & 0x1fUL) << 6 | (p[1] & 0x3fUL)
				   : (p[0] & 0xfUL) << 12 | (p[1] & 0x3fUL) << 6 | (p[2] & 0x3fUL);
	bool is_unsafe =
		c < 0xa0 || is_direction(c) || c == LINE_SEPARATOR || c == PARAGRAPH_SEPARATOR;
	return is_unsafe ? len : 0;
}

void tp_text_add_safe(struct tp_buf *out, const char *text)
{
	while (*text) {
		size_t len = tp_text_utf8_length(text);
		if (!len)
			tp_buf_puts(out, "\xef\xbf\xbd");
		else if (tp_text_unsafe_length(text) && *text != '\n')
			tp_buf_putc(out, '?');
		else
			tp_buf_add(out, text, len);
		text += len ? len : 1;
	}
}

/* POSIX 2.2: none of these characters is special anywhere in a word, nor are bytes of UTF-8. */
static bool is_plain_word(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_@%+=:,./-";
	for (const char *p = word; *p; p++)
		if (!((unsigned char)*p & 0x80) && !strchr(plain, *p))
			return false;
	return *word != '\0';
}

void tp_text_add_word(struct tp_buf *out, const char *word)
{
	if (word[0] == '-' && word[1])
		tp_buf_puts(out, "./");
	tp_text_add_argument(out, word);
}

void tp_text_add_argument(struct tp_buf *out, const char *word)
{
	if (is_plain_word(word)) {
		tp_buf_puts(out, word);
		return;
	}
	tp_buf_putc(out, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			tp_buf_puts(out, "'\\''");
		else
			tp_buf_putc(out, *word);
	}
	tp_buf_putc(out, '\'');
}

size_t tp_text_width(const char *text)
{
	size_t width = 0;
	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

/* A backslash makes the star or question mark behind it a character like others. */
static const char *literal_at(const char *pattern)
{
	return pattern + (pattern[0] == '\\' && (pattern[1] == '*' || pattern[1] == '?'));
}

bool tp_text_glob(const char *pattern, const char *text)
{
	/* Iterative, so that a pattern with many stars costs at most length times length. */
	const char *star = NULL;
	const char *resume = NULL;
	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			resume = text;
		} else if (*pattern == '?' || *literal_at(pattern) == *text) {
			pattern = literal_at(pattern) + 1;
			text++;
		} else if (star) {
			/* On to where the letter after the star is. */
			pattern = star + 1;
			text = ++resume;
			if (*pattern && *pattern != '?' && *pattern != '*')
				text = resume = strchr(text, *literal_at(pattern));
			if (!text)
				return false;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

const char *tp_text_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

size_t tp_text_function_length(const char *name)
{
	static const char mark[] = ".<locals>.";
	const size_t n_mark = sizeof(mark) - 1;
	size_t end = strlen(name);
	for (size_t at = end; at-- > 0;) {
		if (strncmp(name + at, mark, n_mark) != 0)
			continue;
		if (name[at + n_mark] != '<')
			break;
		end = at;
	}
	return end;
}

bool tp_text_starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}
