/* SPDX-License-Identifier: Apache-2.0 */
/* Decides when the agent collects with CUPTI. It finds CUPTI, opens a session when the reader wants
 * events, maintains it, and releases CUPTI when nobody wants or reads events, when another tool
 * needs it, or when the program ends. The state in the ring says which. Only the agent's own thread
 * calls this. */
#ifndef TRAINPROF_SRC_AGENT_CUPTI_CUPTI_LIFECYCLE_H
#define TRAINPROF_SRC_AGENT_CUPTI_CUPTI_LIFECYCLE_H

#include "callback_takeover.h"
#include "cupti_session.h"
#include "retry_backoff.h"

#include <stdbool.h>
#include <stdint.h>

struct tp_ring_writer;

/* All zero = not started. */
struct tp_cupti_lifecycle {
	struct tp_ring_writer *ring;
	struct tp_cupti_session session;
	struct tp_callback_takeover theft;
	struct tp_retry_backoff aside;
	bool is_late;         /* the program used CUDA before the agent came */
	bool starts_idle;     /* idle until the reader wants events */
	bool is_nicer;        /* this thread's priority was lowered */
	bool may_have_second; /* a library was loaded that may be another CUPTI */
	bool is_registered;   /* the exit() handler is registered, after the first session */
	enum {
		TP_CUPTI_LIFECYCLE_UNKNOWN,
		TP_CUPTI_LIFECYCLE_FOUND,
		TP_CUPTI_LIFECYCLE_ABSENT
	} cupti;
	bool is_open;
	uint64_t clock_at_ns;
	uint64_t loaded_at_ns;
	uint64_t release_at_ns; /* when a paused session is released; 0 = none is paused */
	uint64_t tail;          /* the reader's position, and since when it stands there */
	uint64_t tail_at_ns;
	uint64_t n_gone; /* events dropped up to that time */
};

/* Starts for a ring that begins, or begins again; whatever was lost or given up before is retried.
 * The ring is borrowed for good. */
void tp_cupti_lifecycle_begin(struct tp_cupti_lifecycle *collecting, struct tp_ring_writer *ring);

/* Does one round, about every 100 ms. `wanted` is the reader's request. `may_seek`: CUDA is
 * initialised; before that, loading CUPTI would initialise it. */
void tp_cupti_lifecycle_tick(struct tp_cupti_lifecycle *collecting, uint32_t wanted, bool may_seek);

/* True if the next round must come soon, because a session is open or is being released. */
bool tp_cupti_lifecycle_is_active(const struct tp_cupti_lifecycle *collecting);

/* Ends collection because the program ends: nothing more will be delivered, and incomplete records
 * are emitted as they are. */
void tp_cupti_lifecycle_finish(struct tp_cupti_lifecycle *collecting);
/* Ends collection in a program that continues: waits up to 200 ms for launched work. */
void tp_cupti_lifecycle_leave(struct tp_cupti_lifecycle *collecting);

/* True if the reader was killed, perhaps while it wanted events; nothing else would then end the
 * cost of collection. */
bool tp_cupti_lifecycle_is_reader_dead(const struct tp_ring_writer *ring);

#endif
