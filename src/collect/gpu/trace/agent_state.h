/* SPDX-License-Identifier: Apache-2.0 */
/* What the agent in a program says of itself, in words. */
#ifndef TRAINPROF_SRC_COLLECT_GPU_TRACE_AGENT_STATE_H
#define TRAINPROF_SRC_COLLECT_GPU_TRACE_AGENT_STATE_H

#include "trainprof/model/source.h"
#include "trainprof/wire/gpu_ring.h"

#include <stddef.h>

/* Why nothing is collected, as a source says it; "" and PRESENT where that is not so. */
enum tp_presence tp_agent_state_explain(const struct tp_gpu_ring_header *header, char *out,
					size_t size);

#endif
