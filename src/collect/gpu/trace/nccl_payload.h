/* SPDX-License-Identifier: Apache-2.0 */
/* Parses NCCL's data about its calls in the payloads of its NVTX ranges. */
#ifndef TRAINPROF_SRC_COLLECT_GPU_TRACE_NCCL_PAYLOAD_H
#define TRAINPROF_SRC_COLLECT_GPU_TRACE_NCCL_PAYLOAD_H

#include "trainprof/wire/gpu_ring.h"

#include <stdbool.h>
#include <stdint.h>

enum tp_nccl_kind {
	TP_NCCL_COLLECTIVE,   /* all ranks of a communicator call it, in the same order */
	TP_NCCL_PEER,         /* one rank sends, another one receives */
	TP_NCCL_COMMUNICATOR, /* a communicator is created */
};

struct tp_nccl_call {
	enum tp_nccl_kind kind;
	const char *op;        /* "ncclAllReduce"; static; NULL for a communicator */
	uint64_t bytes;        /* as requested, by one rank */
	uint64_t communicator; /* NCCL's own hash, the same in all ranks; 0 = unknown */
	uint32_t n_ranks;      /* for a communicator that is created */
};

/* Decodes the first words of a payload of `size` bytes. Returns false if its schema is unknown. */
bool tp_nccl_payload_read(struct tp_nccl_call *out, uint32_t schema, uint32_t size,
			  const uint64_t words[TP_GPU_PAYLOAD_WORDS]);

#endif
