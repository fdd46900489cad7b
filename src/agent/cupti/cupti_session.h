/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One use of CUPTI: the subscription, the enabled kinds of records, and the decoding of buffers
 * into the ring. It can be opened and closed any number of times; while it is closed nothing is
 * subscribed, so that another tool can use CUPTI.
 *
 * Threads: the functions are for the agent's thread. CUPTI calls back from any thread. Launching
 * threads only take a buffer, without locks. Decoding holds `lock`; CUPTI is never called while it
 * is held.
 */
#ifndef TRAINPROF_SRC_AGENT_CUPTI_CUPTI_SESSION_H
#define TRAINPROF_SRC_AGENT_CUPTI_CUPTI_SESSION_H

#include "agent/ring/ring_writer.h"
#include "buffer_pool.h"
#include "cupti_decode.h"
#include "cupti_library.h"

#include <pthread.h>
#include <stdbool.h>

struct tp_cupti_session {
	struct tp_cupti_library lib;
	struct tp_ring_writer *ring;
	pthread_mutex_t lock; /* protects ring and decoder */
	struct tp_cupti_decoder decoder;
	struct tp_buffer_pool pool;
	cupti_subscriber subscriber; /* NULL = not subscribed */
	uint32_t kinds;              /* bit i: row i of the table of kinds is enabled */
	uint32_t filtered;           /* bit d: calls of domain d are enabled one by one */
	bool has_names;              /* names of calls are loaded */
	bool has_ranges;             /* NVTX ranges are recorded into the same ring */
	bool may_refuse;             /* a request for a buffer may be refused */
	uint64_t n_requested;        /* buffers requested since the start */
	uint64_t n_returned;
	uint64_t n_called; /* launches counted while watching */
};

/* Turns zeroed memory into a session. There is one per process, because CUPTI's callbacks carry no
 * context. `ring` is borrowed for good; the caller opens `lib`. */
void tp_cupti_session_init(struct tp_cupti_session *session, struct tp_ring_writer *ring);

/* Starts collecting. Returns TP_GPU_STATE_OPEN, or the state that says why not, with the
 * explanation in the ring's header; nothing is then left enabled. May take many seconds. */
enum tp_gpu_state tp_cupti_session_open(struct tp_cupti_session *session);

/* Makes CUPTI deliver complete records; `force`: incomplete ones too. */
void tp_cupti_session_flush(struct tp_cupti_session *session, bool force);

/* Reads both clocks and emits them. Returns false if CUPTI does not provide its time. */
bool tp_cupti_session_emit_clock(struct tp_cupti_session *session);

/* Disables what was enabled; records of earlier work may still be delivered. */
void tp_cupti_session_pause(struct tp_cupti_session *session);

/* Releases CUPTI. */
void tp_cupti_session_release(struct tp_cupti_session *session);

/* Starts or stops counting launches. Returns false if this CUPTI cannot. */
bool tp_cupti_session_watch(struct tp_cupti_session *session, bool is_on);

#endif
