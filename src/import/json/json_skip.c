/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Skips brackets 64 bytes at a time: computes which bytes are quotes, which quotes are escaped,
 * which bytes lie between two quotes, and which brackets do not.
 *
 * Half of the import time was spent here. AVX2 with carry-less multiplication and POPCNT, which x86
 * servers have since 2013, need a quarter of the time of plain x86-64: hence the #if.
 */
#include "json_skip.h"

#include <endian.h>
#include <stddef.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <stdatomic.h>
#endif

struct masks {
	uint64_t quotes;
	uint64_t backslashes;
	uint64_t opens;
	uint64_t closes;
};

/* Returns the bytes that are escaped by a backslash; the last byte of the previous block may be
 * one. */
static inline uint64_t escaped_bytes(struct tp_json_skip *skip, uint64_t backslashes)
{
	uint64_t escaped = skip->is_escaped;
	skip->is_escaped = 0;
	uint64_t left = backslashes & ~escaped;
	while (left) {
		uint64_t first = left & -left;
		escaped |= first << 1;
		skip->is_escaped = first >> 63;
		left &= ~(first | first << 1);
	}
	return escaped;
}

/* Returns the position, counted from 1, at which the block closes the first bracket; 0 if it does
 * not. */
static inline __attribute__((always_inline)) unsigned closed_at(struct tp_json_skip *skip,
								uint64_t opens, uint64_t closes)
{
	uint64_t depth = skip->depth;
	uint64_t n_closes = (uint64_t)__builtin_popcountll(closes);
	if (n_closes < depth) {
		skip->depth = depth - n_closes + (uint64_t)__builtin_popcountll(opens);
		return 0;
	}
	while (closes) {
		uint64_t first = closes & -closes;
		uint64_t before = opens & (first - 1);
		depth += (uint64_t)__builtin_popcountll(before);
		if (--depth == 0)
			return (unsigned)__builtin_ctzll(first) + 1;
		opens &= ~before;
		closes &= closes - 1;
	}
	skip->depth = depth + (uint64_t)__builtin_popcountll(opens);
	return 0;
}

/* Functions that scan a block, and that compute which bytes are inside strings from the quotes. */
typedef void (*scan_fn)(struct masks *out, const char *p);
typedef uint64_t (*prefix_xor_fn)(uint64_t bits);

static inline __attribute__((always_inline)) bool skip_by(scan_fn look, prefix_xor_fn parity_below,
							  struct tp_json_skip *skip,
							  const char **at, const char *end,
							  bool is_last)
{
	const char *p = *at;
	while (end - p >= TP_JSON_SKIP_BYTES || (is_last && p < end)) {
		struct masks masks;
		size_t size =
			end - p >= TP_JSON_SKIP_BYTES ? TP_JSON_SKIP_BYTES : (size_t)(end - p);
		uint64_t valid = ~UINT64_C(0) >> (TP_JSON_SKIP_BYTES - size);
		uint64_t escaped = 0;
		look(&masks, p);
		if ((masks.backslashes & valid) | skip->is_escaped)
			escaped = escaped_bytes(skip, masks.backslashes & valid);
		uint64_t text = parity_below(masks.quotes & ~escaped & valid) ^ skip->in_text;
		skip->in_text = text >> (size - 1) & 1 ? ~UINT64_C(0) : 0;
		unsigned closed =
			closed_at(skip, masks.opens & ~text & valid, masks.closes & ~text & valid);
		if (closed) {
			*at = p + closed;
			return true;
		}
		p += size;
	}
	*at = p;
	return false;
}

/* Sets bit i if byte i of eight is c: zero bytes are those for which adding 0x7f does not carry
 * into bit 7, and a multiplication gathers these bits. */
static uint64_t equal_plain(uint64_t word, unsigned char c)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t x = word ^ ones * c;
	uint64_t zero = ~(((x & ones * 0x7f) + ones * 0x7f) | x) & ones * 0x80;
	return (zero >> 7) * UINT64_C(0x0102040810204080) >> 56;
}

/* [ and {, like ] and }, differ by one bit; setting it turns no other byte into one of them. */
static void scan_plain(struct masks *out, const char *p)
{
	*out = (struct masks){0};
	for (unsigned i = 0; i < TP_JSON_SKIP_BYTES; i += 8) {
		uint64_t word;
		memcpy(&word, p + i, sizeof(word));
		word = le64toh(word);
		uint64_t brackets = word | UINT64_C(0x2020202020202020);
		out->quotes |= equal_plain(word, '"') << i;
		out->backslashes |= equal_plain(word, '\\') << i;
		out->opens |= equal_plain(brackets, '{') << i;
		out->closes |= equal_plain(brackets, '}') << i;
	}
}

/* Bit i is the parity of bits 0 to i: set between an odd quote and the next one. */
static uint64_t prefix_xor_plain(uint64_t bits)
{
	for (unsigned shift = 1; shift < 64; shift *= 2)
		bits ^= bits << shift;
	return bits;
}

bool tp_json_skip_plain(struct tp_json_skip *skip, const char **at, const char *end, bool is_last)
{
	return skip_by(scan_plain, prefix_xor_plain, skip, at, end, is_last);
}

#if defined(__x86_64__)
#define VECTOR_TARGET __attribute__((target("avx2,popcnt,bmi,pclmul")))

VECTOR_TARGET static inline void scan_part(struct masks *out, const char *p, unsigned shift)
{
	__m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)p);
	__m256i brackets = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));
#define BITS(vector, c)                                                                            \
	((uint64_t)(unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(vector, _mm256_set1_epi8(c)))  \
	 << shift)
	out->quotes |= BITS(bytes, '"');
	out->backslashes |= BITS(bytes, '\\');
	out->opens |= BITS(brackets, '{');
	out->closes |= BITS(brackets, '}');
#undef BITS
}

VECTOR_TARGET static inline void scan_vector(struct masks *out, const char *p)
{
	*out = (struct masks){0};
	scan_part(out, p, 0);
	scan_part(out, p + TP_JSON_SKIP_BYTES / 2, 32);
}

/* A carry-less multiplication by all ones adds, modulo two, all bits below each bit. */
VECTOR_TARGET static inline uint64_t prefix_xor_vector(uint64_t bits)
{
	__m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)bits),
					       _mm_set1_epi8((char)0xff), 0);
	return (uint64_t)_mm_cvtsi128_si64(product);
}

VECTOR_TARGET static bool skip_vector(struct tp_json_skip *skip, const char **at, const char *end,
				      bool is_last)
{
	return skip_by(scan_vector, prefix_xor_vector, skip, at, end, is_last);
}

/* Same as __builtin_cpu_supports(), which the run-time library of some compilers lacks. */
static bool detect_vectors(void)
{
	enum { CPUID_FEATURES = 1, CPUID_MORE_FEATURES = 7, XCR0_SSE_AND_AVX = 6 };
	const unsigned basic = bit_PCLMUL | bit_POPCNT | bit_OSXSAVE, more = bit_AVX2 | bit_BMI;
	unsigned a, b, c, d;
	if (!__get_cpuid(CPUID_FEATURES, &a, &b, &c, &d) || (c & basic) != basic ||
	    !__get_cpuid_count(CPUID_MORE_FEATURES, 0, &a, &b, &c, &d) || (b & more) != more)
		return false;
	unsigned low, high; /* the registers that the kernel saves for a thread */
	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return (low & XCR0_SSE_AND_AVX) == XCR0_SSE_AND_AVX;
}

/* CPUID is slow in virtual machines, so it runs once; threads that call this at the same time get
 * the same result. */
static bool has_vectors(void)
{
	enum { UNKNOWN, NO, YES };
	static _Atomic int known = UNKNOWN;
	int answer = atomic_load_explicit(&known, memory_order_relaxed);
	if (answer == UNKNOWN) {
		answer = detect_vectors() ? YES : NO;
		atomic_store_explicit(&known, answer, memory_order_relaxed);
	}
	return answer == YES;
}

bool tp_json_skip_run(struct tp_json_skip *skip, const char **at, const char *end, bool is_last)
{
	if (has_vectors())
		return skip_vector(skip, at, end, is_last);
	return tp_json_skip_plain(skip, at, end, is_last);
}
#else
bool tp_json_skip_run(struct tp_json_skip *skip, const char **at, const char *end, bool is_last)
{
	return tp_json_skip_plain(skip, at, end, is_last);
}
#endif
