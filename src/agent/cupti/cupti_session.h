/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One use of CUPTI: subscribed, kinds of records switched on, buffers decoded into the ring. Open
 * and closed any number of times; between them nothing of ours is subscribed, so that another tool
 * may come.
 *
 * Threads: open, tend, close and the rest are the agent's thread's. CUPTI calls back in whatever
 * thread it likes: launching threads only take a buffer, without locks; decoding holds `lock`, and
 * nobody calls CUPTI while holding it.
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
	pthread_mutex_t lock; /* of ring and decoder */
	struct tp_cupti_decoder decoder;
	struct tp_buffer_pool pool;
	cupti_subscriber subscriber; /* NULL: not subscribed */
	uint32_t kinds;              /* bit i: row i of the table of kinds is on */
	uint32_t filtered;           /* bit d: calls of domain d are on one by one */
	bool has_names;              /* of calls */
	bool has_ranges;             /* ranges of NVTX are told into the same ring */
	bool may_refuse;             /* a buffer that is asked for */
	uint64_t n_requested;        /* buffers, ever */
	uint64_t n_returned;
	uint64_t n_called; /* launches seen while watched for */
};

/* Zeroed memory becomes a session; there is one in a process, because CUPTI's callbacks have no
 * context. `ring` is borrowed for good, `lib` is to be opened by the caller. */
void tp_cupti_session_init(struct tp_cupti_session *session, struct tp_ring_writer *ring);

/*
 * Begin to collect. TP_GPU_STATE_OPEN, or the state that says why not, with what explains it told
 * in the ring's header; then nothing is left switched on. May take many seconds.
 */
enum tp_gpu_state tp_cupti_session_open(struct tp_cupti_session *session);

/* Have what is complete delivered; `force`: what is not, too. */
void tp_cupti_session_flush(struct tp_cupti_session *session, bool force);

/* Read both clocks and tell them. False: CUPTI does not tell the time. */
bool tp_cupti_session_emit_clock(struct tp_cupti_session *session);

/* Switch off what was switched on; what ran before may still be delivered. */
void tp_cupti_session_pause(struct tp_cupti_session *session);

/* Let go of CUPTI. */
void tp_cupti_session_release(struct tp_cupti_session *session);

/* See or stop seeing launches; false: this CUPTI cannot. */
bool tp_cupti_session_watch(struct tp_cupti_session *session, bool is_on);

#endif
