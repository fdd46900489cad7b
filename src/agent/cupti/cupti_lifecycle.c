/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti_lifecycle.h"

#include "agent/ring/host_clock.h"
#include "agent/ring/ring_writer.h"
#include "cupti_find.h"
#include "cupti_handoff.h"
#include "exit_guard.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	CLOCK_MS = 200,    /* interval between two readings of the clocks */
	LOADED_MS = 1000,  /* interval between two checks for loaded libraries; a child that forks
			      while the loader is queried waits for it */
	UNREAD_MS = 10000, /* how long a full ring is tolerated */
	READER_MS = 10000, /* a reader that has not read for this long is considered gone */
	NICE_VALUE = 5,
};

#define NS_PER_MS UINT64_C(1000000)

static uint64_t now_ns(void)
{
	return tp_host_clock_ns(CLOCK_MONOTONIC);
}

void tp_cupti_lifecycle_begin(struct tp_cupti_lifecycle *collecting, struct tp_ring_writer *ring)
{
	collecting->ring = ring;
	collecting->is_nicer = false;
	collecting->aside = (struct tp_retry_backoff){0};
	if (!collecting->session.ring)
		tp_cupti_session_init(&collecting->session, ring);
	if (collecting->cupti ==
	    TP_CUPTI_LIFECYCLE_ABSENT) /* the reason for its absence may be gone */
		collecting->cupti = TP_CUPTI_LIFECYCLE_UNKNOWN;
}

static void set_state(const struct tp_cupti_lifecycle *collecting, enum tp_gpu_state state)
{
	tp_ring_writer_set_state(collecting->ring, state);
}

static uint64_t n_dropped(const struct tp_ring_writer *ring)
{
	const struct tp_gpu_ring_header *header = ring->header;
	uint64_t sum = 0;
	for (size_t i = 0; i < TP_GPU_EVENT_TYPES; i++)
		sum += __atomic_load_n(&header->n_dropped[i], __ATOMIC_RELAXED);
	return sum;
}

/*
 * True if nobody reads: events are dropped and the reader's position has not moved for a long time.
 */
static bool is_not_read(struct tp_cupti_lifecycle *collecting, uint64_t at_ns)
{
	uint64_t tail = __atomic_load_n(&collecting->ring->header->tail, __ATOMIC_RELAXED);
	if (tail != collecting->tail || !collecting->tail_at_ns ||
	    n_dropped(collecting->ring) == collecting->n_gone) {
		collecting->tail = tail;
		collecting->tail_at_ns = at_ns;
		collecting->n_gone = n_dropped(collecting->ring);
		return false;
	}
	return at_ns - collecting->tail_at_ns >= UNREAD_MS * NS_PER_MS;
}

static void close_session(struct tp_cupti_lifecycle *collecting, enum tp_gpu_state state)
{
	tp_cupti_session_pause(&collecting->session);
	tp_cupti_session_flush(&collecting->session, false);
	collecting->is_open = false;
	/* Launched work has yet to finish; after one more flush another tool may have CUPTI. */
	collecting->release_at_ns = now_ns() + CLOCK_MS * NS_PER_MS;
	set_state(collecting, state);
}

static void release(struct tp_cupti_lifecycle *collecting)
{
	tp_cupti_session_release(&collecting->session);
	collecting->is_open = false;
	collecting->release_at_ns = 0;
	tp_cupti_handoff_release();
}

static void release_cupti(struct tp_cupti_lifecycle *collecting)
{
	if (!collecting->release_at_ns)
		return;
	tp_cupti_session_emit_clock(&collecting->session);
	tp_cupti_session_flush(&collecting->session, false);
	release(collecting);
}

void tp_cupti_lifecycle_finish(struct tp_cupti_lifecycle *collecting)
{
	tp_exit_guard_checkpoint();
	if (collecting->is_open) {
		tp_cupti_session_emit_clock(&collecting->session);
		tp_cupti_session_pause(&collecting->session);
	}
	if (collecting->is_open || collecting->release_at_ns) {
		tp_cupti_session_flush(&collecting->session, true);
		release(collecting);
	}
}

/* Nothing is switched off here: what is on belongs to the other tool now. */
static void yield_to_takeover(struct tp_cupti_lifecycle *collecting)
{
	tp_cupti_session_watch(&collecting->session, false);
	release(collecting);
	collecting->ring->header->owner[0] = '\0';
	set_state(collecting, TP_GPU_STATE_TAKEOVER);
}

/* Checks for waiting tools if the last check is that long ago. */
static void watch_handoff(struct tp_cupti_lifecycle *collecting, uint64_t at_ns, uint64_t ms)
{
	if (collecting->loaded_at_ns && at_ns - collecting->loaded_at_ns < ms * NS_PER_MS)
		return;
	collecting->may_have_second |= tp_cupti_handoff_watch();
	collecting->loaded_at_ns = at_ns;
}

/* With two copies the second takes records away from the first, no matter which one is ours. */
static void yield_to_second_copy(struct tp_cupti_lifecycle *collecting)
{
	if (!collecting->may_have_second)
		return;
	collecting->may_have_second = false;
	if (!tp_cupti_find_second_copy(&collecting->session.lib, collecting->ring->header))
		return;
	tp_cupti_lifecycle_finish(collecting);
	set_state(collecting, TP_GPU_STATE_SECOND_COPY);
}

/* Releases CUPTI for another tool that waits for it. */
static void yield_to_handoff(struct tp_cupti_lifecycle *collecting)
{
	enum tp_gpu_state state = TP_GPU_STATE_TAKEOVER;
	enum tp_cupti_handoff newcomer = tp_cupti_handoff_query(collecting->ring->header->owner);
	if (newcomer == TP_CUPTI_HANDOFF_NONE)
		return;
	tp_cupti_lifecycle_finish(collecting);
	if (newcomer == TP_CUPTI_HANDOFF_SUBSCRIBE)
		state = tp_retry_backoff_note_in_use(&collecting->aside, now_ns())
				? TP_GPU_STATE_BACKOFF
				: TP_GPU_STATE_IN_USE;
	set_state(collecting, state);
	tp_cupti_handoff_ack();
}

static void check_takeover(struct tp_cupti_lifecycle *collecting, uint64_t at_ns)
{
	struct tp_cupti_session *session = &collecting->session;
	uint64_t n_moved = __atomic_load_n(&session->n_requested, __ATOMIC_RELAXED) +
			   __atomic_load_n(&session->n_returned, __ATOMIC_RELAXED);
	uint64_t n_called = __atomic_load_n(&session->n_called, __ATOMIC_RELAXED);
	switch (tp_callback_takeover_check(&collecting->theft, at_ns, n_moved, n_called)) {
	case TP_CALLBACK_TAKEOVER_WATCH:
		tp_cupti_session_watch(session, true);
		break;
	case TP_CALLBACK_TAKEOVER_UNWATCH:
		tp_cupti_session_watch(session, false);
		break;
	case TP_CALLBACK_TAKEOVER_DONE:
		yield_to_takeover(collecting);
		break;
	case TP_CALLBACK_TAKEOVER_NONE:
		break;
	}
}

static void run_session(struct tp_cupti_lifecycle *collecting, uint64_t at_ns)
{
	if (at_ns - collecting->clock_at_ns >= CLOCK_MS * NS_PER_MS) {
		tp_cupti_session_emit_clock(&collecting->session);
		collecting->clock_at_ns = at_ns;
	}
	tp_cupti_session_flush(&collecting->session, false);
	if (is_not_read(collecting, at_ns))
		close_session(collecting, TP_GPU_STATE_UNREAD);
	else
		check_takeover(collecting, at_ns);
}

bool tp_cupti_lifecycle_is_reader_dead(const struct tp_ring_writer *ring)
{
	uint64_t seen_ns = __atomic_load_n(&ring->header->reader_ns, __ATOMIC_RELAXED);
	return now_ns() > seen_ns + READER_MS * NS_PER_MS;
}

/* A reader that has not found the ring yet has never read, and is not gone. */
static bool is_requested(const struct tp_cupti_lifecycle *collecting, uint32_t wanted)
{
	bool was_read =
		__atomic_load_n(&collecting->ring->header->reader_ns, __ATOMIC_RELAXED) != 0;
	if (was_read && tp_cupti_lifecycle_is_reader_dead(collecting->ring))
		return false;
	if (wanted == TP_GPU_REQUEST_DEFAULT)
		return !collecting->starts_idle;
	return wanted == TP_GPU_REQUEST_EVENTS;
}

/* Not before CUPTI is set up: the threads that CUDA starts meanwhile would inherit the priority. */
static void lower_priority(struct tp_cupti_lifecycle *collecting)
{
	id_t tid = (id_t)syscall(SYS_gettid);
	if (!collecting->is_nicer)
		setpriority(PRIO_PROCESS, tid, getpriority(PRIO_PROCESS, tid) + NICE_VALUE);
	collecting->is_nicer = true;
}

static void note_open(struct tp_cupti_lifecycle *collecting)
{
	tp_retry_backoff_note_open(&collecting->aside);
	/* Registered once more, in case another tool started CUPTI before its exit handlers were
	 * guarded. */
	if (!collecting->is_registered)
		tp_exit_guard_register();
	collecting->is_registered = true;
	lower_priority(collecting);
}

static void open_session(struct tp_cupti_lifecycle *collecting)
{
	release_cupti(collecting);
	watch_handoff(collecting, now_ns(), 0);
	if (!tp_cupti_handoff_hold())
		return; /* by the next check the other tool has CUPTI or has left it */
	enum tp_gpu_state state = tp_cupti_session_open(&collecting->session);
	collecting->is_open = state == TP_GPU_STATE_OPEN;
	collecting->tail_at_ns = 0;
	collecting->theft = (struct tp_callback_takeover){0};
	if (collecting->is_open)
		note_open(collecting);
	else
		tp_cupti_handoff_release();
	if (state == TP_GPU_STATE_IN_USE &&
	    tp_retry_backoff_note_in_use(&collecting->aside, now_ns()))
		state = TP_GPU_STATE_BACKOFF;
	set_state(collecting, state);
}

/* True while collection pauses until the ring is read or another tool may be done. */
static bool has_to_pause(const struct tp_cupti_lifecycle *collecting, enum tp_gpu_state state,
			 uint64_t at_ns)
{
	if (state == TP_GPU_STATE_UNREAD)
		return __atomic_load_n(&collecting->ring->header->tail, __ATOMIC_RELAXED) ==
		       collecting->tail;
	return state == TP_GPU_STATE_BACKOFF &&
	       !tp_retry_backoff_can_try(&collecting->aside, at_ns);
}

/* True if CUPTI delivers nothing and will not. */
static bool has_failed(const struct tp_cupti_lifecycle *collecting)
{
	return tp_ring_writer_state(collecting->ring) >= TP_GPU_STATE_NO_CUPTI;
}

/* Follows the reader's request, unless it has to wait. */
static void follow(struct tp_cupti_lifecycle *collecting, uint32_t wanted)
{
	uint64_t at_ns = now_ns();
	enum tp_gpu_state state = tp_ring_writer_state(collecting->ring);
	bool is_at_rest = state == TP_GPU_STATE_BACKOFF || state == TP_GPU_STATE_IDLE;
	bool is_paused = has_to_pause(collecting, state, at_ns);
	if (!is_requested(collecting, wanted)) {
		if (collecting->is_open)
			close_session(collecting, TP_GPU_STATE_IDLE);
		else if (!is_at_rest)
			set_state(collecting, TP_GPU_STATE_IDLE);
	} else if (!collecting->is_open && !is_paused) {
		open_session(collecting);
	}
	if (collecting->is_open)
		run_session(collecting, at_ns);
	else if (collecting->release_at_ns && at_ns >= collecting->release_at_ns)
		release_cupti(collecting);
}

static void find_cupti(struct tp_cupti_lifecycle *collecting)
{
	enum tp_cupti_finding found =
		tp_cupti_find(&collecting->session, collecting->ring, collecting->is_late);
	if (found == TP_CUPTI_FIND_LATER)
		return;
	collecting->cupti =
		found == TP_CUPTI_FIND_DONE ? TP_CUPTI_LIFECYCLE_FOUND : TP_CUPTI_LIFECYCLE_ABSENT;
	if (found == TP_CUPTI_FIND_DONE)
		tp_cupti_handoff_begin(&collecting->session.lib, collecting->ring);
}

void tp_cupti_lifecycle_tick(struct tp_cupti_lifecycle *collecting, uint32_t wanted, bool may_seek)
{
	__atomic_store_n(&collecting->ring->header->heartbeat_ns, now_ns(), __ATOMIC_RELAXED);
	if (collecting->cupti == TP_CUPTI_LIFECYCLE_UNKNOWN && may_seek)
		find_cupti(collecting);
	if (collecting->cupti != TP_CUPTI_LIFECYCLE_FOUND)
		return;
	watch_handoff(collecting, now_ns(), LOADED_MS);
	yield_to_handoff(collecting);
	yield_to_second_copy(collecting);
	if (!has_failed(collecting))
		follow(collecting, wanted);
	if (has_failed(collecting))
		collecting->cupti = TP_CUPTI_LIFECYCLE_ABSENT;
}

bool tp_cupti_lifecycle_is_active(const struct tp_cupti_lifecycle *collecting)
{
	return collecting->is_open || collecting->release_at_ns;
}

void tp_cupti_lifecycle_leave(struct tp_cupti_lifecycle *collecting)
{
	const struct timespec nap = {.tv_nsec = CLOCK_MS * (long)NS_PER_MS};
	if (collecting->is_open)
		close_session(collecting, TP_GPU_STATE_IDLE);
	if (collecting->release_at_ns)
		nanosleep(&nap, NULL);
	release_cupti(collecting);
}
