/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the CUPTI of the process for a session, protects the end of the program from it
 * (exit_guard.h), starts it, and records its version in the ring. The library stays open; later
 * calls only check whether it may be used. Only the agent's own thread calls this. */
#ifndef TRAINPROF_SRC_AGENT_CUPTI_CUPTI_FIND_H
#define TRAINPROF_SRC_AGENT_CUPTI_CUPTI_FIND_H

#include <stdbool.h>

struct tp_gpu_ring_header;
struct tp_ring_writer;
struct tp_cupti_library;
struct tp_cupti_session;

enum tp_cupti_finding {
	TP_CUPTI_FIND_LATER, /* the program is forking or ending at this moment */
	TP_CUPTI_FIND_DONE,
	TP_CUPTI_FIND_NONE, /* the ring's state says why */
};

/* `is_late`: the program used CUDA before the agent came. */
enum tp_cupti_finding tp_cupti_find(struct tp_cupti_session *session, struct tp_ring_writer *ring,
				    bool is_late);

/* True if a second libcupti is in the process; the ring's `owner` then holds the end of its path.
 * Also false while the program forks. */
bool tp_cupti_find_second_copy(const struct tp_cupti_library *lib,
			       struct tp_gpu_ring_header *header);

#endif
