/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the NCCL call that an NCCL kernel belongs to, within one process. The call's range has its
 * size and communicator. The kernel is launched inside that range or, if calls are grouped, inside
 * the range of ncclGroupEnd in the same thread. The information becomes a detail of the sink:
 * bytes, op, communicator ("group") with its number of ranks, and the ordinal of the collective
 * within the communicator.
 *
 * `thread` is a small number that the caller assigns to each thread. Events of a thread must come
 * in order, its ranges before the launches inside them; kernels may come before or after.
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

/* `sink` is borrowed until free. `rank` distinguishes this process's sends and receives from
 * others'. */
struct tp_nccl_match *tp_nccl_match_new(struct tp_sink *sink, uint32_t rank);
void tp_nccl_match_free(struct tp_nccl_match *match); /* NULL is allowed */

/* Starts a call and returns its detail, or 0 for the creation of a communicator. */
uint32_t tp_nccl_match_call(struct tp_nccl_match *match, const struct tp_nccl_call *call);

/* Starts an NCCL range in the thread, and ends one with that detail (0 = none). */
void tp_nccl_match_begin(struct tp_nccl_match *match, size_t thread);
void tp_nccl_match_end(struct tp_nccl_match *match, size_t thread, uint32_t detail,
		       enum tp_nccl_group group, uint64_t start_ns, uint64_t end_ns);

void tp_nccl_match_launch(struct tp_nccl_match *match, size_t thread, uint32_t link,
			  uint64_t time_ns);

/* Returns the detail of the kernel with that link, once: if a call has several kernels, the first
 * gets it and the others get 0. False: its launch, or the end of its call, is not known yet. */
bool tp_nccl_match_find(struct tp_nccl_match *match, uint32_t link, uint32_t *detail);

/* True if there was any call; otherwise there is no reason to wait for one. */
bool tp_nccl_match_is_used(const struct tp_nccl_match *match);

/* Events were lost: forgets what is open and stops numbering collectives. */
void tp_nccl_match_reset(struct tp_nccl_match *match);

#endif
