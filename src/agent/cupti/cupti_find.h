/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the CUPTI of the process for a session and tells in the ring which it is. False, and the
 * state of the ring says why: none found, promised to another tool, or a version with which nothing
 * is collected (`is_late`: in a program that has used CUDA before we came). What was found stays
 * open; again asks only whether it may be used. Only the agent's own thread.
 */
#ifndef TRAINPROF_SRC_AGENT_CUPTI_CUPTI_FIND_H
#define TRAINPROF_SRC_AGENT_CUPTI_CUPTI_FIND_H

#include <stdbool.h>

struct tp_ring_writer;
struct tp_cupti_session;

bool tp_cupti_find(struct tp_cupti_session *session, struct tp_ring_writer *ring, bool is_late);

#endif
