/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded reader of little-endian bytes: past the end it returns zeros and sets is_bad. */
#ifndef TRAINPROF_SRC_STACK_ELF_BYTE_CURSOR_H
#define TRAINPROF_SRC_STACK_ELF_BYTE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_byte_cursor {
	const uint8_t *at;
	const uint8_t *end;
	bool is_bad;
};

static inline struct tp_byte_cursor tp_byte_cursor_over(const void *bytes, size_t size)
{
	return (struct tp_byte_cursor){.at = bytes, .end = (const uint8_t *)bytes + size};
}

static inline size_t tp_byte_cursor_left(const struct tp_byte_cursor *c)
{
	return (size_t)(c->end - c->at);
}

static inline uint64_t tp_byte_cursor_uint(struct tp_byte_cursor *c, size_t n_bytes)
{
	if (tp_byte_cursor_left(c) < n_bytes) {
		c->is_bad = true;
		c->at = c->end;
		return 0;
	}
	uint64_t value = 0;
	for (size_t i = 0; i < n_bytes; i++)
		value |= (uint64_t)c->at[i] << (8 * i);
	c->at += n_bytes;
	return value;
}

static inline int64_t tp_byte_cursor_int(struct tp_byte_cursor *c, size_t n_bytes)
{
	uint64_t value = tp_byte_cursor_uint(c, n_bytes);
	unsigned unused = 64 - 8 * (unsigned)n_bytes;
	return (int64_t)(value << unused) >> unused;
}

static inline void tp_byte_cursor_skip(struct tp_byte_cursor *c, uint64_t n_bytes)
{
	if (tp_byte_cursor_left(c) < n_bytes) {
		c->is_bad = true;
		c->at = c->end;
		return;
	}
	c->at += n_bytes;
}

/* Reads a LEB128 number; `shift` gets its number of bits, `last` its last byte. Bits beyond 64 are
 * dropped, so padded encodings stay readable. */
static inline uint64_t tp_byte_cursor_leb(struct tp_byte_cursor *c, unsigned *shift, uint8_t *last)
{
	uint64_t value = 0;
	*shift = 0;
	do {
		*last = (uint8_t)tp_byte_cursor_uint(c, 1);
		if (*shift < 64)
			value |= (uint64_t)(*last & 0x7f) << *shift;
		*shift += *shift < 64 ? 7 : 0;
	} while (*last & 0x80);
	return value;
}

static inline uint64_t tp_byte_cursor_uleb(struct tp_byte_cursor *c)
{
	unsigned shift;
	uint8_t last;
	return tp_byte_cursor_leb(c, &shift, &last);
}

static inline int64_t tp_byte_cursor_sleb(struct tp_byte_cursor *c)
{
	unsigned shift;
	uint8_t last;
	uint64_t value = tp_byte_cursor_leb(c, &shift, &last);
	if (shift < 64 && (last & 0x40))
		value |= ~UINT64_C(0) << shift;
	return (int64_t)value;
}

#endif
