/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other tools that come for CUPTI while the agent is in the program: torch.profiler, mostly. CUPTI
 * serves one, and refuses a second. So the calls by which a tool takes it go through here first, in
 * the libraries that are linked with CUPTI, and from the loader's answers to who asks by name
 * (got_patch.h): whoever comes while the agent has CUPTI waits, for two seconds at most, until the
 * agent has let go of it, and then is served. A tool that asked by name before the agent was there,
 * and calls later, is not seen.
 *
 * Threads: newcomers come in any; the functions here are the agent's thread's. In a forked child,
 * and where that thread has ended, calls just go through.
 */
#ifndef TRAINPROF_SRC_AGENT_CUPTI_CUPTI_HANDOFF_H
#define TRAINPROF_SRC_AGENT_CUPTI_CUPTI_HANDOFF_H

#include <stdbool.h>

struct tp_cupti_library;
struct tp_ring_writer;

enum { TP_CUPTI_HANDOFF_NAME_BYTES = 64 };

enum tp_cupti_handoff {
	TP_CUPTI_HANDOFF_NONE,
	TP_CUPTI_HANDOFF_SUBSCRIBE, /* as CUPTI wants it: whether it is gone shows by subscribing */
	TP_CUPTI_HANDOFF_REPLACE, /* the callbacks, without subscribing: nothing tells when it goes
				   */
};

/* Somebody is there to make way. Both are borrowed for good. */
void tp_cupti_handoff_begin(const struct tp_cupti_library *lib, const struct tp_ring_writer *ring);
/* Nobody is any more. */
void tp_cupti_handoff_end(void);

/* See to the libraries that have been loaded since; nearly nothing, where there are none. True:
 * there were some. */
bool tp_cupti_handoff_watch(void);

/* Before the agent takes CUPTI; false: somebody else takes it at this moment. */
bool tp_cupti_handoff_hold(void);
/* It has let go of it. */
void tp_cupti_handoff_release(void);

/* Who waits for way to be made, or has begun to take what is not his: the name that it gives
 * itself, or its library's file. Where it is NONE `name` stays as it is. */
enum tp_cupti_handoff tp_cupti_handoff_query(char name[TP_CUPTI_HANDOFF_NAME_BYTES]);
/* Way is made: those who waited when it was asked go on. */
void tp_cupti_handoff_ack(void);

#endif
