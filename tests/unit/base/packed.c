/* SPDX-License-Identifier: Apache-2.0 */
/* Writes gzip without compressing: RFC 1952 around stored blocks of RFC 1951. */
#include "packed.h"

#include <stdint.h>

static void put_number(struct tp_buf *out, uint32_t value, int n_bytes)
{
	for (int i = 0; i < n_bytes; i++)
		tp_buf_putc(out, (char)(value >> (8 * i)));
}

/* RFC 1952, section 8, one bit at a time. */
static uint32_t crc_of(const unsigned char *p, size_t size)
{
	uint32_t crc = UINT32_MAX;
	for (size_t i = 0; i < size; i++) {
		crc ^= p[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

void packed_add(struct tp_buf *out, const void *bytes, size_t size)
{
	static const char header[10] = "\x1f\x8b\x08\0\0\0\0\0\0\xff";
	const char *p = bytes;
	size_t left = size;
	tp_buf_add(out, header, sizeof(header));
	do {
		size_t n = left < 0xffff ? left : 0xffff;
		left -= n;
		tp_buf_putc(out, !left);
		put_number(out, (uint32_t)n, 2);
		put_number(out, (uint32_t)~n, 2);
		tp_buf_add(out, p, n);
		p += n;
	} while (left);
	put_number(out, crc_of(bytes, size), 4);
	put_number(out, (uint32_t)size, 4);
}
