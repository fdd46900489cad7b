/*
 * Which of the next bytes are what: one bit a byte, for those who look for something in JSON. All
 * read TP_MASK_BYTES bytes, or 64, whatever lies there.
 *
 * SSE2 is part of every x86-64; the plain loops serve other machines and say in tests what is
 * right.
 */
#ifndef TRAINPROF_SRC_IMPORT_BYTEMASK_H
#define TRAINPROF_SRC_IMPORT_BYTEMASK_H

#include <stdbool.h>
#include <stdint.h>

enum { TP_MASK_BYTES = 16, TP_MASKS_BYTES = 64 };

/* Of 64 bytes. Brackets are [ and {, or ] and }. */
struct tp_masks {
	uint64_t quotes;
	uint64_t backslashes;
	uint64_t opens;
	uint64_t closes;
};

static inline bool tp_byte_ends_text(unsigned char c)
{
	return c == '"' || c == '\\';
}

static inline bool tp_byte_is_ink(unsigned char c)
{
	return c > ' ';
}

static inline bool tp_byte_ends_word(unsigned char c)
{
	return c <= ' ' || c == ',' || c == ']' || c == '}';
}

/* Control characters and all that is not ASCII. */
static inline bool tp_byte_is_odd(unsigned char c)
{
	return c < ' ' || c >= 0x7f;
}

/* NOLINTBEGIN(bugprone-macro-parentheses): names of functions */
#define TP_PLAIN_MASK(name, test)                                                                  \
	static inline unsigned name(const char *p)                                                 \
	{                                                                                          \
		unsigned mask = 0;                                                                 \
		for (unsigned i = 0; i < TP_MASK_BYTES; i++)                                       \
			mask |= (unsigned)test((unsigned char)p[i]) << i;                          \
		return mask;                                                                       \
	}
TP_PLAIN_MASK(tp_plain_text_end, tp_byte_ends_text)
TP_PLAIN_MASK(tp_plain_ink, tp_byte_is_ink)
TP_PLAIN_MASK(tp_plain_word_end, tp_byte_ends_word)
TP_PLAIN_MASK(tp_plain_odd, tp_byte_is_odd)
#undef TP_PLAIN_MASK
/* NOLINTEND(bugprone-macro-parentheses) */

static inline void tp_plain_masks(struct tp_masks *out, const char *p)
{
	*out = (struct tp_masks){0};
	for (unsigned i = 0; i < TP_MASKS_BYTES; i++) {
		uint64_t bit = UINT64_C(1) << i;
		out->quotes |= p[i] == '"' ? bit : 0;
		out->backslashes |= p[i] == '\\' ? bit : 0;
		out->opens |= p[i] == '{' || p[i] == '[' ? bit : 0;
		out->closes |= p[i] == '}' || p[i] == ']' ? bit : 0;
	}
}

#if defined(__SSE2__)
#include <emmintrin.h>

static inline __m128i tp_mask_load(const char *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

static inline __m128i tp_mask_equal(__m128i bytes, char c)
{
	return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c));
}

/* At most c, as unsigned numbers. */
static inline __m128i tp_mask_most(__m128i bytes, char c)
{
	return _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(c)), bytes);
}

static inline unsigned tp_mask_text_end(const char *p)
{
	__m128i bytes = tp_mask_load(p);
	return (unsigned)_mm_movemask_epi8(
		_mm_or_si128(tp_mask_equal(bytes, '"'), tp_mask_equal(bytes, '\\')));
}

static inline unsigned tp_mask_ink(const char *p)
{
	return ~(unsigned)_mm_movemask_epi8(tp_mask_most(tp_mask_load(p), ' ')) & 0xffff;
}

/* ] and } differ by one bit, which no other byte makes one of them. */
static inline unsigned tp_mask_word_end(const char *p)
{
	__m128i bytes = tp_mask_load(p);
	__m128i closes = tp_mask_equal(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), '}');
	__m128i ends = _mm_or_si128(tp_mask_most(bytes, ' '), tp_mask_equal(bytes, ','));
	return (unsigned)_mm_movemask_epi8(_mm_or_si128(ends, closes));
}

/* As signed numbers all that is not ASCII is below the blank, too. */
static inline unsigned tp_mask_odd(const char *p)
{
	__m128i bytes = tp_mask_load(p);
	return (unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_cmplt_epi8(bytes, _mm_set1_epi8(' ')),
							tp_mask_equal(bytes, 0x7f)));
}

static inline void tp_masks_read(struct tp_masks *out, const char *p)
{
	*out = (struct tp_masks){0};
	for (unsigned i = 0; i < TP_MASKS_BYTES; i += TP_MASK_BYTES) {
		__m128i bytes = tp_mask_load(p + i);
		__m128i brackets = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
#define TP_MASK_BITS(vector) ((uint64_t)(unsigned)_mm_movemask_epi8(vector) << i)
		out->quotes |= TP_MASK_BITS(tp_mask_equal(bytes, '"'));
		out->backslashes |= TP_MASK_BITS(tp_mask_equal(bytes, '\\'));
		out->opens |= TP_MASK_BITS(tp_mask_equal(brackets, '{'));
		out->closes |= TP_MASK_BITS(tp_mask_equal(brackets, '}'));
#undef TP_MASK_BITS
	}
}
#else
static inline unsigned tp_mask_text_end(const char *p)
{
	return tp_plain_text_end(p);
}

static inline unsigned tp_mask_ink(const char *p)
{
	return tp_plain_ink(p);
}

static inline unsigned tp_mask_word_end(const char *p)
{
	return tp_plain_word_end(p);
}

static inline unsigned tp_mask_odd(const char *p)
{
	return tp_plain_odd(p);
}

static inline void tp_masks_read(struct tp_masks *out, const char *p)
{
	tp_plain_masks(out, p);
}
#endif

#endif
