/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classifies the next TP_BYTE_MASK_BYTES bytes, one bit per byte, for searches in JSON.
 *
 * SSE2 is part of every x86-64. The plain loops are for other machines and are the reference in
 * tests.
 */
#ifndef TRAINPROF_SRC_IMPORT_JSON_BYTE_MASK_H
#define TRAINPROF_SRC_IMPORT_JSON_BYTE_MASK_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { TP_BYTE_MASK_BYTES = 16 };

static inline bool tp_byte_ends_text(unsigned char c)
{
	return c == '"' || c == '\\';
}

static inline bool tp_byte_is_not_space(unsigned char c)
{
	return c > ' ';
}

static inline bool tp_byte_ends_word(unsigned char c)
{
	return c <= ' ' || c == ',' || (c | 0x20) == '}' || (c | 0x20) == '{' ||
	       tp_byte_ends_text(c);
}

/* True for control characters and everything outside ASCII. */
static inline bool tp_byte_is_special(unsigned char c)
{
	return c < ' ' || c >= 0x7f;
}

/* NOLINTBEGIN(bugprone-macro-parentheses): names of functions */
#define TP_BYTE_MASK_PLAIN(name, test)                                                             \
	static inline unsigned name(const char *p)                                                 \
	{                                                                                          \
		unsigned mask = 0;                                                                 \
		for (unsigned i = 0; i < TP_BYTE_MASK_BYTES; i++)                                  \
			mask |= (unsigned)test((unsigned char)p[i]) << i;                          \
		return mask;                                                                       \
	}
TP_BYTE_MASK_PLAIN(tp_plain_text_end, tp_byte_ends_text)
TP_BYTE_MASK_PLAIN(tp_plain_ink, tp_byte_is_not_space)
TP_BYTE_MASK_PLAIN(tp_plain_word_end, tp_byte_ends_word)
TP_BYTE_MASK_PLAIN(tp_plain_odd, tp_byte_is_special)
#undef TP_BYTE_MASK_PLAIN
/* NOLINTEND(bugprone-macro-parentheses) */

/* Returns how many of the next eight bytes precede a quote or a backslash; 8 = none is there.
 * Sooner known than the mask of sixteen. */
static inline unsigned tp_byte_mask_text_length(const char *p)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t bytes;
	memcpy(&bytes, p, sizeof(bytes));
	bytes = le64toh(bytes);
	uint64_t quotes = bytes ^ ones * '"';
	uint64_t backslashes = bytes ^ ones * '\\';
	/* Bit 7 is set in the first byte that is zero, and maybe in later ones. */
	uint64_t ends =
		(((quotes - ones) & ~quotes) | ((backslashes - ones) & ~backslashes)) & ones << 7;
	return ends ? (unsigned)__builtin_ctzll(ends) / 8 : sizeof(bytes);
}

/* Returns how many of the next eight bytes are digits before another byte. */
static inline unsigned tp_byte_mask_digits(const char *p)
{
	uint64_t bytes;
	memcpy(&bytes, p, sizeof(bytes));
	bytes = le64toh(bytes) ^ UINT64_C(0x3030303030303030);
	uint64_t others =
		((bytes + UINT64_C(0x7676767676767676)) | bytes) & UINT64_C(0x8080808080808080);
	return others ? (unsigned)__builtin_ctzll(others) / 8 : sizeof(bytes);
}

static inline unsigned tp_plain_same(const char *p, const char *q)
{
	unsigned mask = 0;
	for (unsigned i = 0; i < TP_BYTE_MASK_BYTES; i++)
		mask |= (unsigned)(p[i] == q[i]) << i;
	return mask;
}

#if defined(__SSE2__)
#include <emmintrin.h>

static inline __m128i tp_mask_load(const char *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

static inline __m128i tp_byte_mask_equal(__m128i bytes, char c)
{
	return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c));
}

/* Bytes that are at most c, compared unsigned. */
static inline __m128i tp_byte_mask_up_to(__m128i bytes, char c)
{
	return _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(c)), bytes);
}

static inline unsigned tp_byte_mask_text_end(const char *p)
{
	__m128i bytes = tp_mask_load(p);
	return (unsigned)_mm_movemask_epi8(
		_mm_or_si128(tp_byte_mask_equal(bytes, '"'), tp_byte_mask_equal(bytes, '\\')));
}

static inline unsigned tp_byte_mask_not_space(const char *p)
{
	return ~(unsigned)_mm_movemask_epi8(tp_byte_mask_up_to(tp_mask_load(p), ' ')) & 0xffff;
}

/* [ and {, like ] and }, differ by one bit; setting it turns no other byte into one of them. */
static inline unsigned tp_byte_mask_word_end(const char *p)
{
	__m128i bytes = tp_mask_load(p);
	__m128i brackets = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
	brackets =
		_mm_or_si128(tp_byte_mask_equal(brackets, '{'), tp_byte_mask_equal(brackets, '}'));
	__m128i ends = _mm_or_si128(tp_byte_mask_up_to(bytes, ' '), tp_byte_mask_equal(bytes, ','));
	return (unsigned)_mm_movemask_epi8(_mm_or_si128(ends, brackets)) | tp_byte_mask_text_end(p);
}

/* Compared signed, everything outside ASCII is below the space, too. */
static inline unsigned tp_byte_mask_special(const char *p)
{
	__m128i bytes = tp_mask_load(p);
	return (unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_cmplt_epi8(bytes, _mm_set1_epi8(' ')),
							tp_byte_mask_equal(bytes, 0x7f)));
}

/* Bytes that are the same in both. */
static inline unsigned tp_byte_mask_same(const char *p, const char *q)
{
	return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(tp_mask_load(p), tp_mask_load(q)));
}

#else
static inline unsigned tp_byte_mask_text_end(const char *p)
{
	return tp_plain_text_end(p);
}

static inline unsigned tp_byte_mask_same(const char *p, const char *q)
{
	return tp_plain_same(p, q);
}

static inline unsigned tp_byte_mask_not_space(const char *p)
{
	return tp_plain_ink(p);
}

static inline unsigned tp_byte_mask_word_end(const char *p)
{
	return tp_plain_word_end(p);
}

static inline unsigned tp_byte_mask_special(const char *p)
{
	return tp_plain_odd(p);
}
#endif

#endif
