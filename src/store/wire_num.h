/* SPDX-License-Identifier: Apache-2.0 */
/* Encoding of numbers in a recording: little-endian words in headers, varints (LEB128: seven bits
 * per byte, low ones first, the top bit set in all but the last) in records. Signed numbers use
 * zigzag encoding so that small ones of either sign stay short. */
#ifndef TRAINPROF_SRC_STORE_WIRE_NUM_H
#define TRAINPROF_SRC_STORE_WIRE_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { TP_VARINT_MAX_BYTES = 10 };

static inline void tp_put_u16(unsigned char *p, uint16_t value)
{
	p[0] = (unsigned char)value;
	p[1] = (unsigned char)(value >> 8);
}

static inline void tp_put_u32(unsigned char *p, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		p[i] = (unsigned char)(value >> 8 * i);
}

static inline void tp_put_u64(unsigned char *p, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		p[i] = (unsigned char)(value >> 8 * i);
}

static inline uint16_t tp_get_u16(const unsigned char *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t tp_get_u32(const unsigned char *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t tp_get_u64(const unsigned char *p)
{
	return tp_get_u32(p) | (uint64_t)tp_get_u32(p + 4) << 32;
}

/* Writes at most TP_VARINT_MAX_BYTES; returns the address after them. */
static inline unsigned char *tp_varint_put(unsigned char *p, uint64_t value)
{
	while (value >= 0x80) {
		*p++ = (unsigned char)(value | 0x80);
		value >>= 7;
	}
	*p++ = (unsigned char)value;
	return p;
}

/* Encodes the difference of two unsigned numbers with zigzag; wraps, so that every pair has one. */
static inline uint64_t tp_delta_encode(uint64_t to, uint64_t from)
{
	uint64_t difference = to - from;
	return difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0);
}

static inline uint64_t tp_delta_decode(uint64_t folded, uint64_t from)
{
	return from + (folded >> 1 ^ (folded & 1 ? UINT64_MAX : 0));
}

/* Reads fields of an untrusted payload. Once bad, it stays bad and returns zeros. */
struct tp_varint_cursor {
	const unsigned char *at;
	const unsigned char *end;
	bool is_bad;
};

static inline uint64_t tp_varint_get(struct tp_varint_cursor *cursor)
{
	uint64_t value = 0;
	for (unsigned shift = 0; shift < 64 && cursor->at < cursor->end; shift += 7) {
		unsigned char byte = *cursor->at++;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	cursor->is_bad = true;
	cursor->at = cursor->end;
	return 0;
}

/* Reads a varint that must fit 32 bits. */
static inline uint32_t tp_varint_get_u32(struct tp_varint_cursor *cursor)
{
	uint64_t value = tp_varint_get(cursor);
	if (value > UINT32_MAX)
		cursor->is_bad = true;
	return (uint32_t)value;
}

#endif
