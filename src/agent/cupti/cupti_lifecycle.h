/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the agent collects by CUPTI: finds it, opens a session when the reader wants events, tends
 * it, and lets go of it when nobody wants or reads any, when another tool comes, or when the
 * program ends. The state of the ring says which. Only the agent's own thread.
 */
#ifndef TRAINPROF_SRC_AGENT_CUPTI_CUPTI_LIFECYCLE_H
#define TRAINPROF_SRC_AGENT_CUPTI_CUPTI_LIFECYCLE_H

#include "callback_takeover.h"
#include "cupti_session.h"
#include "retry_backoff.h"

#include <stdbool.h>
#include <stdint.h>

struct tp_ring_writer;

/* Zeroed: nothing was begun. */
struct tp_cupti_lifecycle {
	struct tp_ring_writer *ring;
	struct tp_cupti_session session;
	struct tp_callback_takeover theft;
	struct tp_retry_backoff aside;
	bool is_late;         /* in a program that used CUDA before we came */
	bool starts_idle;     /* until the reader wants events */
	bool is_nicer;        /* this thread */
	bool may_have_second; /* a library was loaded: perhaps another CUPTI */
	bool is_registered;   /* a handler of exit(), after the first session */
	enum {
		TP_CUPTI_LIFECYCLE_UNKNOWN,
		TP_CUPTI_LIFECYCLE_FOUND,
		TP_CUPTI_LIFECYCLE_ABSENT
	} cupti;
	bool is_open;
	uint64_t clock_at_ns;
	uint64_t loaded_at_ns;
	uint64_t release_at_ns; /* when what was paused is let go of; 0 = nothing is */
	uint64_t tail;          /* of the reader, and since when */
	uint64_t tail_at_ns;
	uint64_t n_gone; /* dropped events at that time */
};

/* What was lost or given up before is tried anew: a ring that begins, or begins again. The ring is
 * borrowed for good. */
void tp_cupti_lifecycle_begin(struct tp_cupti_lifecycle *collecting, struct tp_ring_writer *ring);

/* One look, about every 100 ms. `wanted` is the reader's word. `may_seek`: CUDA has begun; loading
 * CUPTI would begin it. */
void tp_cupti_lifecycle_tick(struct tp_cupti_lifecycle *collecting, uint32_t wanted, bool may_seek);

/* Looks have to come soon: something is open, or is let go of. */
bool tp_cupti_lifecycle_is_active(const struct tp_cupti_lifecycle *collecting);

/* The program ends: nothing more will be delivered, what is incomplete comes as it is. */
void tp_cupti_lifecycle_finish(struct tp_cupti_lifecycle *collecting);
/* The program goes on without us: what was launched is waited for, up to 200 ms. */
void tp_cupti_lifecycle_leave(struct tp_cupti_lifecycle *collecting);

/* The reader was killed, perhaps while it wanted events: nobody else would end what that costs. */
bool tp_cupti_lifecycle_is_reader_dead(const struct tp_ring_writer *ring);

#endif
