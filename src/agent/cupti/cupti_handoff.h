/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves other tools that want CUPTI while the agent is in the program, mostly torch.profiler.
 * CUPTI serves one client and refuses the second. The calls by which a tool takes CUPTI are
 * therefore intercepted, both in libraries that are linked with CUPTI and in the loader's answers
 * to look-ups by name (got_patch.h). A tool that calls while the agent uses CUPTI waits, for at
 * most two seconds, until the agent has released it, and is then served. A tool that looked up a
 * function by name before the agent came, and calls it later, is not noticed.
 *
 * Threads: other tools call from any thread; the functions declared here are for the agent's
 * thread. In a forked child, and after the agent's thread has ended, calls pass straight through.
 */
#ifndef TRAINPROF_SRC_AGENT_CUPTI_CUPTI_HANDOFF_H
#define TRAINPROF_SRC_AGENT_CUPTI_CUPTI_HANDOFF_H

#include <stdbool.h>

struct tp_cupti_library;
struct tp_ring_writer;

enum { TP_CUPTI_HANDOFF_NAME_BYTES = 64 };

enum tp_cupti_handoff {
	TP_CUPTI_HANDOFF_NONE,
	TP_CUPTI_HANDOFF_SUBSCRIBE, /* subscribes through the API: a later attempt to subscribe
				       shows whether it is gone */
	TP_CUPTI_HANDOFF_REPLACE,   /* took the callbacks without subscribing: nothing shows when it
				       is gone */
};

/* Starts intercepting. Both arguments are borrowed for good. */
void tp_cupti_handoff_begin(const struct tp_cupti_library *lib, const struct tp_ring_writer *ring);
/* Stops intercepting. */
void tp_cupti_handoff_end(void);

/* Intercepts in libraries that were loaded since the last call; nearly free if there are none.
 * Returns true if there were some. */
bool tp_cupti_handoff_watch(void);

/*
 * Announces that the agent takes CUPTI. Returns false if another tool is taking it at this moment.
 */
bool tp_cupti_handoff_hold(void);
/* Announces that the agent has released CUPTI. */
void tp_cupti_handoff_release(void);

/* Reports a tool that waits for CUPTI, or has begun to take it over, with the name that it gives
 * itself or the file of its library. With NONE, `name` stays unchanged. */
enum tp_cupti_handoff tp_cupti_handoff_query(char name[TP_CUPTI_HANDOFF_NAME_BYTES]);
/* Lets the tools continue that were waiting at the last query. */
void tp_cupti_handoff_ack(void);

#endif
