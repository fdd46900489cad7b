/* SPDX-License-Identifier: Apache-2.0 */
/* Parses JSON values. */
#include "json_walk.h"

#include "trainprof/base/text.h"

#include <endian.h>
#include <string.h>

struct tp_json_slice tp_json_slice_unescape(const struct tp_json_slice *piece,
					    struct tp_buf *scratch)
{
	struct tp_json_slice plain = *piece;
	if (!piece->is_escaped || piece->type != TP_JSON_SLICE_TEXT)
		return plain;
	(void)tp_json_slice_text(piece, scratch, &plain.len);
	tp_buf_pad(scratch, '\0', TP_JSON_WALK_SLACK);
	plain.text = scratch->data;
	plain.is_escaped = false;
	return plain;
}

void tp_json_slice_find_each(const struct tp_json_slice *object, const char *const *keys, size_t n,
			     struct tp_json_slice *out)
{
	struct tp_json_walk walk = tp_json_walk_init(object);
	struct tp_json_slice name;
	struct tp_json_slice value;
	struct tp_buf scratch = {0};
	size_t lens[TP_JSON_KEYS_MAX];
	memset(out, 0, n * sizeof(*out));
	for (size_t i = 0; i < n; i++)
		lens[i] = strlen(keys[i]);
	while (tp_json_walk_next(&walk, &name, &value)) {
		if (name.is_escaped)
			name = tp_json_slice_unescape(&name, &scratch);
		for (size_t i = 0; i < n; i++)
			if (lens[i] == name.len && memcmp(name.text, keys[i], name.len) == 0)
				out[i] = value;
	}
	if (scratch.data)
		tp_buf_release(&scratch);
}

struct tp_json_slice tp_json_slice_find(const struct tp_json_slice *object, const char *key)
{
	struct tp_json_walk walk = tp_json_walk_init(object);
	struct tp_json_slice found = {0};
	struct tp_json_slice name;
	struct tp_json_slice value;
	size_t len = strlen(key);
	struct tp_buf scratch = {0};
	while (tp_json_walk_next(&walk, &name, &value)) {
		if (name.is_escaped)
			name = tp_json_slice_unescape(&name, &scratch);
		if (name.len == len && memcmp(name.text, key, len) == 0)
			found = value;
	}
	if (scratch.data)
		tp_buf_release(&scratch);
	return found;
}

/* ---- numbers ---- */

/* A decimal number: digits times ten to the exponent. */
struct decimal {
	uint64_t digits;
	int64_t exponent;
	bool has_digits;
};

enum { EXP_MAX = 1000000 }; /* any larger exponent means too small or too large */

enum { BLOCK_DIGITS = 8, KEPT_DIGITS = 19 };

static const uint64_t powers[KEPT_DIGITS + 1] = {
	UINT64_C(1),
	UINT64_C(10),
	UINT64_C(100),
	UINT64_C(1000),
	UINT64_C(10000),
	UINT64_C(100000),
	UINT64_C(1000000),
	UINT64_C(10000000),
	UINT64_C(100000000),
	UINT64_C(1000000000),
	UINT64_C(10000000000),
	UINT64_C(100000000000),
	UINT64_C(1000000000000),
	UINT64_C(10000000000000),
	UINT64_C(100000000000000),
	UINT64_C(1000000000000000),
	UINT64_C(10000000000000000),
	UINT64_C(100000000000000000),
	UINT64_C(1000000000000000000),
	UINT64_C(10000000000000000000),
};

/* Returns the number of digits at p, up to eight, and their value: adds neighbours, pairs and
 * quadruples at once, after zeros were put before the digits. */
static inline size_t block_read(const char *p, const char *end, uint64_t *value)
{
	uint64_t bytes;
	memcpy(&bytes, p, sizeof(bytes));
	bytes = le64toh(bytes) ^ UINT64_C(0x3030303030303030);
	/* Bit 7 is set in the first byte above 9; what carries from there does not matter. */
	uint64_t others =
		((bytes + UINT64_C(0x7676767676767676)) | bytes) & UINT64_C(0x8080808080808080);
	size_t n = others ? (size_t)__builtin_ctzll(others) / 8 : BLOCK_DIGITS;
	if (n > (size_t)(end - p))
		n = (size_t)(end - p);
	*value = 0;
	if (!n)
		return 0;
	bytes <<= 64 - 8 * n;
	bytes = bytes * (10 * 256 + 1) >> 8;
	bytes = (bytes & UINT64_C(0x00ff00ff00ff00ff)) * (100 * 65536 + 1) >> 16;
	*value = (bytes & UINT64_C(0x0000ffff0000ffff)) * (UINT64_C(10000) << 32 | 1) >> 32;
	return n;
}

/* Digits after the 19th cannot be kept and do not matter: a time below 2^63 ns has no more of them
 * down to the nanosecond. */
static const char *parse_digits(struct decimal *number, const char *p, const char *end,
				bool is_fraction)
{
	uint64_t value;
	size_t n = BLOCK_DIGITS;
	while (n == BLOCK_DIGITS && p < end) {
		n = block_read(p, end, &value);
		if (number->digits >= powers[KEPT_DIGITS - n])
			break;
		number->digits = number->digits * powers[n] + value;
		number->exponent -= is_fraction ? (int64_t)n : 0;
		number->has_digits |= n > 0;
		p += n;
	}
	for (; p < end && *p >= '0' && *p <= '9'; p++) {
		number->has_digits = true;
		if (number->digits >= powers[KEPT_DIGITS - 1]) {
			number->exponent += !is_fraction;
			continue;
		}
		number->digits = number->digits * 10 + (uint64_t)(*p - '0');
		number->exponent -= is_fraction;
	}
	return p;
}

static const char *parse_exp(struct decimal *number, const char *p, const char *end)
{
	bool is_negative = p < end && *p == '-';
	p += p < end && (*p == '-' || *p == '+');
	const char *first = p;
	int64_t value = 0;
	for (; p < end && *p >= '0' && *p <= '9'; p++)
		if (value < EXP_MAX)
			value = value * 10 + (*p - '0');
	number->exponent += is_negative ? -value : value;
	return p == first ? NULL : p;
}

static bool decimal_read(struct decimal *number, const char *p, const char *end)
{
	bool is_negative = p < end && *p == '-';
	p += p < end && (*p == '+' || is_negative);
	p = parse_digits(number, p, end, false);
	if (p < end && *p == '.')
		p = parse_digits(number, p + 1, end, true);
	if (p && p < end && (*p == 'e' || *p == 'E'))
		p = parse_exp(number, p + 1, end);
	/* "-0.0" can be the result of a subtraction. */
	return p == end && number->has_digits && (!is_negative || !number->digits);
}

static bool decimal_scale(const struct decimal *number, int64_t exponent, uint64_t *out)
{
	uint64_t value = number->digits;
	exponent += number->exponent;
	for (; exponent > 0 && value; exponent--)
		if (__builtin_mul_overflow(value, 10, &value))
			return false;
	for (; exponent < 0 && value; exponent++)
		value /= 10;
	*out = value;
	return value <= INT64_MAX;
}

/* Parses "7.0" and "1e3", written by programs that have no integers; `p` is after the sign. */
static bool decimal_integer(const char *p, const char *end, uint64_t *out)
{
	struct decimal number = {0};
	if (*p == '-' || *p == '+' || !decimal_read(&number, p, end))
		return false;
	while (number.exponent < 0 && number.digits && number.digits % 10 == 0) {
		number.digits /= 10;
		number.exponent++;
	}
	return (number.exponent >= 0 || !number.digits) && decimal_scale(&number, 0, out);
}

bool tp_json_slice_integer(const struct tp_json_slice *piece, int64_t *out)
{
	if (piece->type != TP_JSON_SLICE_WORD && piece->type != TP_JSON_SLICE_TEXT)
		return false;
	const char *p = piece->text;
	const char *end = p + piece->len;
	bool is_negative = p < end && *p == '-';
	p += is_negative;
	const char *first = p;
	uint64_t value = 0;
	if (p == end)
		return false;
	/* Most have a few digits, for which that is the fastest. */
	while (p < end && *p >= '0' && *p <= '9' && value < powers[KEPT_DIGITS - 1])
		value = value * 10 + (uint64_t)(*p++ - '0');
	if (p < end && !decimal_integer(first, end, &value))
		return false;
	if (value > INT64_MAX)
		return false;
	*out = is_negative ? -(int64_t)value : (int64_t)value;
	return true;
}

uint64_t tp_json_slice_count(const struct tp_json_slice *piece, uint64_t most)
{
	int64_t value;
	if (!tp_json_slice_integer(piece, &value) || value < 0 || (uint64_t)value > most)
		return 0;
	return (uint64_t)value;
}

static bool scaled_ns(const struct tp_json_slice *piece, int64_t exponent, uint64_t *out)
{
	struct decimal number = {0};
	if (piece->type != TP_JSON_SLICE_WORD && piece->type != TP_JSON_SLICE_TEXT)
		return false;
	return decimal_read(&number, piece->text, piece->text + piece->len) &&
	       decimal_scale(&number, exponent, out);
}

/* Reads 1736408883600000.123 and 4, as nearly all times are written: up to 16 digits and 8
 * after the point. Returns false for anything else. */
static bool plain_time_ns(const char *p, const char *end, uint64_t *out)
{
	enum { FRACTION = 3 };
	uint64_t us;
	uint64_t more;
	uint64_t ns = 0;
	size_t n = block_read(p, end, &us);
	p += n;
	if (n == BLOCK_DIGITS) {
		n = block_read(p, end, &more);
		us = us * powers[n] + more;
		p += n;
	} else if (!n) {
		return false;
	}
	if (p < end && *p == '.') {
		n = block_read(p + 1, end, &ns);
		ns = n > FRACTION ? ns / powers[n - FRACTION] : ns * powers[FRACTION - n];
		p += 1 + n;
	}
	*out = us * powers[FRACTION] + ns;
	return p == end && us < 9 * powers[2 * BLOCK_DIGITS - 1]; /* 2^63 ns are 9.2e15 us */
}

bool tp_json_slice_time_ns(const struct tp_json_slice *piece, uint64_t *out)
{
	bool is_number = piece->type == TP_JSON_SLICE_WORD || piece->type == TP_JSON_SLICE_TEXT;
	return is_number && (plain_time_ns(piece->text, piece->text + piece->len, out) ||
			     scaled_ns(piece, 3, out));
}

bool tp_json_slice_seconds_ns(const struct tp_json_slice *piece, uint64_t *out)
{
	return scaled_ns(piece, 9, out);
}

/* ---- texts ---- */

static bool is_plain(const struct tp_json_slice *piece)
{
	if (piece->is_escaped)
		return false;
	for (size_t i = 0; i < piece->len; i += TP_BYTE_MASK_BYTES) {
		unsigned odd = tp_byte_mask_special(piece->text + i);
		if (piece->len - i < TP_BYTE_MASK_BYTES)
			odd &= (1U << (piece->len - i)) - 1;
		if (odd)
			return false;
	}
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns the value of four hex digits; -1 if they are not hex digits. */
static long unit_at(const char *p, const char *end)
{
	long unit = 0;
	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(p[i]);
		if (digit < 0)
			return -1;
		unit = unit * 16 + digit;
	}
	return unit;
}

/* RFC 3629, section 3. Half a surrogate pair is not a character and becomes U+FFFD. */
static void append_code_point(struct tp_buf *out, long c)
{
	char bytes[4];
	size_t n = 0;
	if (c >= 0xd800 && c <= 0xdfff)
		c = 0xfffd;
	if (c < 0x80) {
		bytes[n++] = (char)c;
	} else if (c < 0x800) {
		bytes[n++] = (char)(0xc0 | c >> 6);
		bytes[n++] = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		bytes[n++] = (char)(0xe0 | c >> 12);
		bytes[n++] = (char)(0x80 | (c >> 6 & 0x3f));
		bytes[n++] = (char)(0x80 | (c & 0x3f));
	} else {
		bytes[n++] = (char)(0xf0 | c >> 18);
		bytes[n++] = (char)(0x80 | (c >> 12 & 0x3f));
		bytes[n++] = (char)(0x80 | (c >> 6 & 0x3f));
		bytes[n++] = (char)(0x80 | (c & 0x3f));
	}
	tp_buf_add(out, bytes, n);
}

/* `p` is after "\u"; a surrogate pair is one character (RFC 8259, section 7). */
static const char *append_unicode(struct tp_buf *out, const char *p, const char *end)
{
	long high = unit_at(p, end);
	if (high < 0) {
		tp_buf_puts(out, "\\u");
		return p;
	}
	p += 4;
	if (high >= 0xd800 && high < 0xdc00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u') {
		long low = unit_at(p + 2, end);
		if (low >= 0xdc00 && low <= 0xdfff) {
			append_code_point(out, 0x10000 + (high - 0xd800) * 0x400 + (low - 0xdc00));
			return p + 6;
		}
	}
	append_code_point(out, high);
	return p;
}

/* `p` is after the backslash. An unknown escape, as in paths that were not escaped, is kept as it
 * is. */
static const char *append_escape(struct tp_buf *out, const char *p, const char *end)
{
	static const char from[] = "\"\\/bfnrt";
	static const char to[] = "\"\\/\b\f\n\r\t";
	if (*p == 'u')
		return append_unicode(out, p + 1, end);
	const char *known = *p ? strchr(from, *p) : NULL;
	if (known) {
		tp_buf_putc(out, to[known - from]);
	} else {
		tp_buf_putc(out, '\\');
		tp_buf_putc(out, *p);
	}
	return p + 1;
}

static void append_unescaped(struct tp_buf *out, const struct tp_json_slice *piece)
{
	const char *p = piece->text;
	const char *end = p + piece->len;
	while (p < end) {
		const char *backslash = memchr(p, '\\', (size_t)(end - p));
		tp_buf_add(out, p, (size_t)((backslash ? backslash : end) - p));
		if (!backslash)
			return;
		if (backslash + 1 == end) {
			tp_buf_putc(out, '\\');
			return;
		}
		p = append_escape(out, backslash + 1, end);
	}
}

const char *tp_json_slice_text(const struct tp_json_slice *piece, struct tp_buf *scratch,
			       size_t *len)
{
	*len = 0;
	if (piece->type != TP_JSON_SLICE_TEXT)
		return "";
	if (is_plain(piece)) {
		*len = piece->len;
		return piece->text;
	}
	struct tp_buf raw = {0};
	append_unescaped(&raw, piece);
	for (size_t i = 0; i < raw.len; i++)
		if ((unsigned char)raw.data[i] < ' ' || raw.data[i] == 0x7f)
			raw.data[i] = ' ';
	tp_buf_clear(scratch);
	tp_text_add_utf8(scratch, tp_buf_text(&raw));
	tp_buf_release(&raw);
	*len = scratch->len;
	return tp_buf_text(scratch);
}
