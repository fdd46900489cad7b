/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 after FIPS 180-4, section 6.2. With the instructions that x86 CPUs have for it (Goldmont,
 * Zen, Ice Lake and later) it is four times as fast, which decides whether a gigabyte of JSON is
 * hashed while it is read or afterwards: hence the #if.
 */
#include "trainprof/base/sha256.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

/* FIPS 180-4, 4.2.2: fractions of the cube roots of the first 64 primes. */
static const uint32_t constants[64] __attribute__((aligned(
	16))) = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
		 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
		 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
		 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
		 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
		 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
		 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
		 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
		 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
		 0xc67178f2};

static uint32_t rotate(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

static uint32_t word_at(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void schedule(uint32_t w[64], const unsigned char *p)
{
	for (int i = 0; i < 16; i++)
		w[i] = word_at(p + (ptrdiff_t)4 * i);
	for (int i = 16; i < 64; i++) {
		uint32_t low = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
		uint32_t high = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
		w[i] = w[i - 16] + low + w[i - 7] + high;
	}
}

static void compress_generic(uint32_t state[8], const unsigned char *p, size_t n_blocks)
{
	for (; n_blocks; n_blocks--, p += TP_SHA256_BLOCK) {
		uint32_t w[64];
		uint32_t s[8];
		schedule(w, p);
		memcpy(s, state, sizeof(s));
		for (int i = 0; i < 64; i++) {
			uint32_t sum = rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25);
			uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
			uint32_t one = s[7] + sum + choice + constants[i] + w[i];
			sum = rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22);
			uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
			uint32_t next = one + sum + majority;
			s[7] = s[6];
			s[6] = s[5];
			s[5] = s[4];
			s[4] = s[3] + one;
			s[3] = s[2];
			s[2] = s[1];
			s[1] = s[0];
			s[0] = next;
		}
		for (int i = 0; i < 8; i++)
			state[i] += s[i];
	}
}

#if defined(__x86_64__)
/* Intel SDM, volume 1, 5.20: SHA extensions are bit 29 of EBX of leaf 7; SSE4.1 bit 19 of ECX of
 * leaf 1. */
static bool cpu_has_instructions(void)
{
	unsigned a;
	unsigned b;
	unsigned c;
	unsigned d;
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & 1U << 19))
		return false;
	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & 1U << 29);
}

/* The instructions expect the state as (a b e f) and (c d g h) and do four rounds with four words
 * at once; m holds the last sixteen words of the schedule. */
__attribute__((target("sha,sse4.1"))) static void
compress_by_instructions(uint32_t state[8], const unsigned char *p, size_t n_blocks)
{
	const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
	const __m128i *k = (const __m128i *)(const void *)constants;
	__m128i *out = (__m128i *)(void *)state;
	__m128i badc = _mm_shuffle_epi32(_mm_loadu_si128(out), 0xb1);
	__m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128(out + 1), 0x1b);
	__m128i abef = _mm_alignr_epi8(badc, hgfe, 8);
	__m128i cdgh = _mm_blend_epi16(hgfe, badc, 0xf0);
	for (; n_blocks; n_blocks--, p += TP_SHA256_BLOCK) {
		const __m128i *in = (const __m128i *)(const void *)p;
		__m128i m[4];
		__m128i abef_before = abef;
		__m128i cdgh_before = cdgh;
		for (int i = 0; i < 4; i++)
			m[i] = _mm_shuffle_epi8(_mm_loadu_si128(in + i), swap);
#pragma GCC unroll 16
		for (int i = 0; i < 16; i++) {
			__m128i sum = _mm_add_epi32(m[i & 3], _mm_load_si128(k + i));
			cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
			abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
			__m128i last = m[(i + 3) & 3];
			__m128i next = _mm_sha256msg1_epu32(m[i & 3], m[(i + 1) & 3]);
			next = _mm_add_epi32(next, _mm_alignr_epi8(last, m[(i + 2) & 3], 4));
			m[i & 3] = _mm_sha256msg2_epu32(next, last);
		}
		abef = _mm_add_epi32(abef, abef_before);
		cdgh = _mm_add_epi32(cdgh, cdgh_before);
	}
	__m128i feba = _mm_shuffle_epi32(abef, 0x1b);
	__m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
	_mm_storeu_si128(out, _mm_blend_epi16(feba, dchg, 0xf0));
	_mm_storeu_si128(out + 1, _mm_alignr_epi8(dchg, feba, 8));
}
#else
static bool cpu_has_instructions(void)
{
	return false;
}

static void compress_by_instructions(uint32_t state[8], const unsigned char *p, size_t n_blocks)
{
	compress_generic(state, p, n_blocks);
}
#endif

static void compress(struct tp_sha256 *hash, const unsigned char *p, size_t n_blocks)
{
	if (hash->has_instructions)
		compress_by_instructions(hash->state, p, n_blocks);
	else
		compress_generic(hash->state, p, n_blocks);
}

void tp_sha256_init(struct tp_sha256 *hash)
{
	/* FIPS 180-4, 5.3.3. */
	static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
	*hash = (struct tp_sha256){.has_instructions = cpu_has_instructions()};
	memcpy(hash->state, first, sizeof(first));
}

void tp_sha256_add(struct tp_sha256 *hash, const void *bytes, size_t size)
{
	const unsigned char *p = bytes;
	size_t begun = hash->n_bytes % TP_SHA256_BLOCK;
	hash->n_bytes += size;
	if (begun) {
		size_t room = TP_SHA256_BLOCK - begun;
		size_t n = size < room ? size : room;
		memcpy(hash->block + begun, p, n);
		if (n < room)
			return;
		compress(hash, hash->block, 1);
		p += n;
		size -= n;
	}
	compress(hash, p, size / TP_SHA256_BLOCK);
	size_t rest = size % TP_SHA256_BLOCK;
	if (rest)
		memcpy(hash->block, p + (size - rest), rest);
}

void tp_sha256_hex(struct tp_sha256 *hash, char out[TP_SHA256_HEX])
{
	static const char digits[] = "0123456789abcdef";
	static const unsigned char padding[TP_SHA256_BLOCK] = {0x80};
	uint64_t n_bits = hash->n_bytes * 8;
	size_t begun = hash->n_bytes % TP_SHA256_BLOCK;
	tp_sha256_add(hash, padding, begun < 56 ? 56 - begun : 120 - begun);
	unsigned char length[8];
	for (int i = 0; i < 8; i++)
		length[i] = (unsigned char)(n_bits >> (56 - 8 * i));
	tp_sha256_add(hash, length, sizeof(length));
	for (int i = 0; i < 64; i++)
		out[i] = digits[hash->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
	out[64] = '\0';
}
