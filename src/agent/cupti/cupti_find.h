/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the CUPTI of the process for a session, guards the end of the program against it
 * (exit_guard.h), begins it, and tells in the ring which it is. What was found stays open; again
 * only asks whether it may be used. Only the agent's own thread.
 */
#ifndef TRAINPROF_SRC_AGENT_CUPTI_CUPTI_FIND_H
#define TRAINPROF_SRC_AGENT_CUPTI_CUPTI_FIND_H

#include <stdbool.h>

struct tp_gpu_ring_header;
struct tp_ring_writer;
struct tp_cupti_library;
struct tp_cupti_session;

enum tp_cupti_finding {
	TP_CUPTI_FIND_LATER, /* the program forks at this moment, or ends */
	TP_CUPTI_FIND_DONE,
	TP_CUPTI_FIND_NONE, /* the state of the ring says why */
};

/* `is_late`: in a program that has used CUDA before we came. */
enum tp_cupti_finding tp_cupti_find(struct tp_cupti_session *session, struct tp_ring_writer *ring,
				    bool is_late);

/* Is a second libcupti in the process? Then the ring's `owner` is the end of its path. False also
 * where the program forks at this moment. */
bool tp_cupti_find_second_copy(const struct tp_cupti_library *lib,
			       struct tp_gpu_ring_header *header);

#endif
