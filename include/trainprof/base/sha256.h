/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4), so that a recording can name the very file it was made from. */
#ifndef TRAINPROF_BASE_SHA256_H
#define TRAINPROF_BASE_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TP_SHA256_HEX = 65, TP_SHA256_BLOCK = 64 };

struct tp_sha256 {
	uint32_t state[8];
	uint64_t n_bytes;
	unsigned char block[TP_SHA256_BLOCK]; /* started and not full */
	bool has_instructions;                /* this CPU has them; may be cleared after init */
};

void tp_sha256_init(struct tp_sha256 *hash);
void tp_sha256_add(struct tp_sha256 *hash, const void *bytes, size_t size);
/* Finishes the hash; 64 hex digits and a NUL. */
void tp_sha256_hex(struct tp_sha256 *hash, char out[TP_SHA256_HEX]);

#endif
