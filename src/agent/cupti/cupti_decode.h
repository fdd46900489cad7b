/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One record of CUPTI into one event of the ring, with what belongs to it. Reads no field beyond
 * those of cupti_abi.h. A record of a kind that was not asked for, of a call that says nothing, or
 * without times makes no event and is counted.
 *
 * One thread at a time, as the ring.
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
	uint8_t thread_flag; /* TP_GPU_FLAG_PTHREAD where CUPTI does not tell tids */
};

/* Zeroed memory is to be given its ring. */
void tp_cupti_decoder_init(struct tp_cupti_decoder *decoder, struct tp_ring_writer *ring);

/* Another buffer begins: what records point to may have changed since the one before. */
void tp_cupti_decode_begin(struct tp_cupti_decoder *decoder);

/* The record's first 4 bytes are its kind; it is as long as CUPTI makes that kind. */
void tp_cupti_decode(struct tp_cupti_decoder *decoder, const struct cupti_record *record);

#endif
