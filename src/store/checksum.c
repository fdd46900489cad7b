/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32C, eight bytes at a time: Kounavis and Berry, "A Systematic Approach to Building High
 * Performance Software-Based CRC Generators", ISCC 2005 ("slicing-by-8"). */
#include "checksum.h"

#include "wire_num.h"

enum { N_ROWS = 8 };

#define POLYNOMIAL UINT32_C(0x82f63b78) /* 0x1edc6f41 with its bits reversed */

void tp_checksum_init(struct tp_checksum *checksum)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;
		for (int bit = 0; bit < 8; bit++)
			crc = (crc >> 1) ^ (crc & 1 ? POLYNOMIAL : 0);
		checksum->rows[0][i] = crc;
	}
	for (int row = 1; row < N_ROWS; row++) {
		for (uint32_t i = 0; i < 256; i++) {
			uint32_t crc = checksum->rows[row - 1][i];
			checksum->rows[row][i] = (crc >> 8) ^ checksum->rows[0][crc & 0xff];
		}
	}
}

uint32_t tp_checksum_add(const struct tp_checksum *checksum, uint32_t before, const void *bytes,
			 size_t size)
{
	const uint32_t(*rows)[256] = checksum->rows;
	const unsigned char *p = bytes;
	uint32_t crc = ~before;
	for (; size >= 8; p += 8, size -= 8) {
		uint32_t low = crc ^ tp_get_u32(p);
		uint32_t high = tp_get_u32(p + 4);
		crc = rows[7][low & 0xff] ^ rows[6][low >> 8 & 0xff] ^ rows[5][low >> 16 & 0xff] ^
		      rows[4][low >> 24] ^ rows[3][high & 0xff] ^ rows[2][high >> 8 & 0xff] ^
		      rows[1][high >> 16 & 0xff] ^ rows[0][high >> 24];
	}
	for (; size; p++, size--)
		crc = (crc >> 8) ^ rows[0][(crc ^ *p) & 0xff];
	return ~crc;
}
