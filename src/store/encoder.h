/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes records into the bytes of one block after the other. Does not access files.
 *
 * Invariant: bytes[0 .. BLOCK_HEADER_BYTES) is room for the header, the payload follows up to
 * `used`. After an add that leaves the block full the caller finishes, writes and clears it.
 */
#ifndef TRAINPROF_SRC_STORE_ENCODER_H
#define TRAINPROF_SRC_STORE_ENCODER_H

#include "checksum.h"

#include "trainprof/model/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_encoder {
	unsigned char *bytes;
	size_t used;
	uint32_t n_records;
	uint32_t number; /* number of the block */
	bool has_time;
	uint64_t base_ns;
	uint64_t clock_ns; /* the last time written */
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t address;                   /* the last address written */
	uint64_t link;                      /* the last link written */
	bool metric_is_named[TP_N_METRICS]; /* named in this recording */
	struct tp_checksum checksum;
};

void tp_encoder_init(struct tp_encoder *encoder);
void tp_encoder_release(struct tp_encoder *encoder);

void tp_encoder_add(struct tp_encoder *encoder, const struct tp_record *record);
bool tp_encoder_is_full(const struct tp_encoder *encoder);

/* Writes the block's header; then bytes[0 .. used) are the block to write to the file. */
void tp_encoder_finish_block(struct tp_encoder *encoder);
/* Begins the next block. */
void tp_encoder_clear(struct tp_encoder *encoder);

#endif
