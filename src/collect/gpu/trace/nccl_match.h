/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which call of NCCL a kernel of NCCL belongs to, in one process. The call's range says how many
 * bytes, in which communicator; the kernel is launched in that range, or, where calls are grouped,
 * in the one of ncclGroupEnd, in the same thread. What is told of a call is a detail of the sink:
 * bytes, op, communicator ("group") with its number of ranks, and the how manieth collective of the
 * communicator it is.
 *
 * `thread` is a small number that the caller gives to each thread. Events of a thread come in
 * order; its ranges before launches in them; kernels before or after.
 */
#ifndef TRAINPROF_SRC_COLLECT_GPU_TRACE_NCCL_MATCH_H
#define TRAINPROF_SRC_COLLECT_GPU_TRACE_NCCL_MATCH_H

#include "nccl_payload.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_nccl_match;
struct tp_sink;

enum tp_nccl_group { TP_NCCL_GROUP_NONE, TP_NCCL_GROUP_START, TP_NCCL_GROUP_END };

/* `sink` is borrowed until free. `rank` tells sends and receives of this process from others'. */
struct tp_nccl_match *tp_nccl_match_new(struct tp_sink *sink, uint32_t rank);
void tp_nccl_match_free(struct tp_nccl_match *talk); /* NULL is allowed */

/* A call begins; returns its detail. Of a communicator that was made 0. */
uint32_t tp_nccl_match_call(struct tp_nccl_match *talk, const struct tp_nccl_call *call);

/* A range of NCCL begins in the thread, and one ends that had that detail (0: none). */
void tp_nccl_match_begin(struct tp_nccl_match *talk, size_t thread);
void tp_nccl_match_end(struct tp_nccl_match *talk, size_t thread, uint32_t detail,
		       enum tp_nccl_group group, uint64_t start_ns, uint64_t end_ns);

void tp_nccl_match_launch(struct tp_nccl_match *talk, size_t thread, uint32_t link,
			  uint64_t time_ns);

/* The detail of the kernel with that link, once: of several kernels of one call the first has it,
 * others 0. False: its launch, or the end of its call, is not known yet. */
bool tp_nccl_match_find(struct tp_nccl_match *talk, uint32_t link, uint32_t *detail);

/* Has there been any call? Else it is in vain to wait for one. */
bool tp_nccl_match_is_used(const struct tp_nccl_match *talk);

/* Events were lost: what is open is forgotten, and collectives are not numbered any more. */
void tp_nccl_match_reset(struct tp_nccl_match *talk);

#endif
