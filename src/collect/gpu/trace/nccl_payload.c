/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes NCCL's payloads. */
#include "nccl_payload.h"

#include "trainprof/base/memory.h"

/* Ids that a library chooses itself start there (nvToolsExtPayload.h). */
#define STATIC_IDS (UINT32_C(1) << 24)

/* nvtx.h and nvtx_payload_schemas.h of NCCL, from 2.16.2 (bytes first) to 2.29 (communicator, then
 * bytes, since 2.25.1); read 2026-11-22. The size distinguishes the two layouts. Other ids, and
 * other sizes of these, are unknown. */
static const struct {
	uint32_t id;
	uint32_t size;     /* with a communicator */
	uint32_t old_size; /* without one; 0 = does not exist */
	enum tp_nccl_kind kind;
	const char *op;
} calls[] = {
	{4, 16, 8, TP_NCCL_COLLECTIVE, "ncclAllGather"},
	{5, 24, 16, TP_NCCL_COLLECTIVE, "ncclAllReduce"},
	{6, 24, 16, TP_NCCL_COLLECTIVE, "ncclBroadcast"},
	{7, 24, 16, TP_NCCL_COLLECTIVE, "ncclReduceScatter"},
	{8, 24, 16, TP_NCCL_COLLECTIVE, "ncclReduce"},
	{9, 24, 16, TP_NCCL_PEER, "ncclSend"},
	{10, 24, 16, TP_NCCL_PEER, "ncclRecv"},
	{16, 16, 0, TP_NCCL_COLLECTIVE, "ncclAlltoAll"},
	{17, 24, 0, TP_NCCL_COLLECTIVE, "ncclGather"},
	{18, 24, 0, TP_NCCL_COLLECTIVE, "ncclScatter"},
};

/* For calls that create a communicator: the index of the word whose lower half is the number of
 * ranks. */
static const struct {
	uint32_t id;
	uint32_t size;
	unsigned word;
} communicator_calls[] = {
	{0, 24, 1},  /* ncclCommInitRank */
	{1, 16, 1},  /* ncclCommInitAll */
	{11, 24, 1}, /* ncclCommInitRankConfig */
	{12, 24, 1}, /* ncclCommInitRankScalable */
	{13, 40, 2}, /* ncclCommSplit: after the parent */
	{15, 24, 1}, /* ncclCommShrink */
};

static bool read_communicator(struct tp_nccl_call *out, uint32_t id, uint32_t size,
			      const uint64_t words[TP_GPU_PAYLOAD_WORDS])
{
	for (size_t i = 0; i < TP_ARRAY_LEN(communicator_calls); i++) {
		if (communicator_calls[i].id != id || communicator_calls[i].size != size)
			continue;
		uint32_t n_ranks = (uint32_t)words[communicator_calls[i].word];
		if (n_ranks == 0 || n_ranks > INT32_MAX)
			return false;
		*out = (struct tp_nccl_call){.kind = TP_NCCL_COMMUNICATOR,
					     .communicator = words[0],
					     .n_ranks = n_ranks};
		return true;
	}
	return false;
}

bool tp_nccl_payload_read(struct tp_nccl_call *out, uint32_t schema, uint32_t size,
			  const uint64_t words[TP_GPU_PAYLOAD_WORDS])
{
	if (schema < STATIC_IDS)
		return false;
	uint32_t id = schema - STATIC_IDS;
	for (size_t i = 0; i < TP_ARRAY_LEN(calls); i++) {
		bool has_communicator = size == calls[i].size;
		if (calls[i].id != id ||
		    (!has_communicator && (!size || size != calls[i].old_size)))
			continue;
		*out = (struct tp_nccl_call){.kind = calls[i].kind,
					     .op = calls[i].op,
					     .bytes = words[has_communicator ? 1 : 0],
					     .communicator = has_communicator ? words[0] : 0};
		return true;
	}
	return read_communicator(out, id, size, words);
}
