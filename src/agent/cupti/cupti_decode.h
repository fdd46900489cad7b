/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts one CUPTI record into one event of the ring and its related events. Reads no field
 * beyond those of cupti_abi.h. A record of an unexpected kind, of a call that carries no
 * information, or without times makes no event and is counted.
 *
 * One thread at a time, like the ring.
 */
#ifndef TRAINPROF_SRC_AGENT_CUPTI_CUPTI_DECODE_H
#define TRAINPROF_SRC_AGENT_CUPTI_CUPTI_DECODE_H

#include "agent/ring/name_table.h"
#include "agent/ring/place_table.h"
#include "agent/ring/ring_writer.h"
#include "call_names.h"
#include "cupti_abi.h"

struct tp_cupti_decoder {
	struct tp_ring_writer *ring;
	struct tp_name_table names;
	struct tp_place_table places;
	struct tp_call_names calls;
	uint8_t thread_flag; /* TP_GPU_FLAG_PTHREAD if CUPTI does not report tids */
};

/* Attaches zeroed memory to its ring. */
void tp_cupti_decoder_init(struct tp_cupti_decoder *decoder, struct tp_ring_writer *ring);

/* Starts another buffer: memory that records point to may have changed since the previous one. */
void tp_cupti_decode_begin(struct tp_cupti_decoder *decoder);

/* The record's first 4 bytes are its kind; CUPTI determines the length of each kind. */
void tp_cupti_decode(struct tp_cupti_decoder *decoder, const struct cupti_record *record);

#endif
