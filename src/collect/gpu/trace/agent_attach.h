/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the GPU agent into a running program and into its children that use CUDA. */
#ifndef TRAINPROF_SRC_COLLECT_GPU_TRACE_AGENT_ATTACH_H
#define TRAINPROF_SRC_COLLECT_GPU_TRACE_AGENT_ATTACH_H

#include "trainprof/base/status.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tp_gpu_ring_set;
struct tp_task_tree;

struct tp_agent_attach_stats {
	size_t n;            /* processes */
	size_t n_refused;    /* that use CUDA and could not be attached to */
	uint64_t stopped_ns; /* longest time for which a thread was held */
};

/*
 * Each process provides a ring. Children that have CUDA mapped only because their parent had it
 * when it forked are left out: such a copy cannot use CUDA.
 *
 * Errors  why the target could not be attached to, if no process of it was; err->next says what to
 * type. TP_ABSENT: none uses CUDA.
 */
TP_MUST_CHECK enum tp_status tp_agent_attach(struct tp_agent_attach_stats *out,
					     struct tp_gpu_ring_set *rings,
					     const struct tp_task_tree *tree, pid_t target,
					     const char *agent, struct tp_error *err);

#endif
