/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32C (Castagnoli), the checksum of iSCSI (RFC 3720, B.4), ext4 and Btrfs. */
#ifndef TRAINPROF_SRC_STORE_CHECKSUM_H
#define TRAINPROF_SRC_STORE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Eight tables, so that eight bytes are processed at a time; filled by init, then read-only. */
struct tp_checksum {
	uint32_t rows[8][256];
};

void tp_checksum_init(struct tp_checksum *checksum);

/* Returns the checksum of these bytes, continued from the checksum `before` (0 = of nothing). */
uint32_t tp_checksum_add(const struct tp_checksum *checksum, uint32_t before, const void *bytes,
			 size_t size);

#endif
