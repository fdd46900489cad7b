/* SPDX-License-Identifier: Apache-2.0 */
/* The state that an agent reports, in words. */
#ifndef TRAINPROF_SRC_COLLECT_GPU_TRACE_AGENT_STATE_H
#define TRAINPROF_SRC_COLLECT_GPU_TRACE_AGENT_STATE_H

#include "trainprof/model/source.h"
#include "trainprof/wire/gpu_ring.h"

#include <stddef.h>

/* The reason why nothing is collected, as a source reports it; "" and PRESENT if it is
 * collected. */
enum tp_presence tp_agent_state_explain(const struct tp_gpu_ring_header *header, char *out,
					size_t size);

#endif
