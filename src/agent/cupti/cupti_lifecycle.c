#include "cupti_lifecycle.h"

#include "agent/ring/host_clock.h"
#include "agent/ring/ring_writer.h"
#include "cupti_find.h"
#include "cupti_handoff.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	CLOCK_MS = 200,    /* between two readings of the clocks */
	LOADED_MS = 1000,  /* between two looks at what has been loaded: a child that is forked
			      while the loader is asked waits for it */
	UNREAD_MS = 10000, /* that a full ring is waited for */
	READER_MS = 10000, /* without a look of the reader, which then is taken to be gone */
	NICER = 5,
};

#define NS_PER_MS UINT64_C(1000000)

static uint64_t now_ns(void)
{
	return tp_hostclock_ns(CLOCK_MONOTONIC);
}

void tp_collecting_begin(struct tp_collecting *collecting, struct tp_ringwriter *ring)
{
	collecting->ring = ring;
	collecting->is_nicer = false;
	collecting->aside = (struct tp_standaside){0};
	if (!collecting->session.ring)
		tp_session_init(&collecting->session, ring);
	if (collecting->cupti == TP_CUPTI_GONE) /* what was in the way may be gone */
		collecting->cupti = TP_CUPTI_UNSOUGHT;
}

static void set_state(const struct tp_collecting *collecting, enum tp_gpu_state state)
{
	tp_ringwriter_set_state(collecting->ring, state);
}

static uint64_t n_dropped(const struct tp_ringwriter *ring)
{
	const struct tp_gpu_ring_header *header = ring->header;
	uint64_t sum = 0;
	for (size_t i = 0; i < TP_GPU_EVENT_TYPES; i++)
		sum += __atomic_load_n(&header->n_dropped[i], __ATOMIC_RELAXED);
	return sum;
}

/* Nobody reads: events are dropped, and the reader's word has not moved for long. */
static bool is_unread(struct tp_collecting *collecting, uint64_t at_ns)
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

static void shut(struct tp_collecting *collecting, enum tp_gpu_state state)
{
	tp_session_pause(&collecting->session);
	tp_session_flush(&collecting->session, false);
	collecting->is_open = false;
	/* Work that was launched has yet to end; once more, then another tool may come. */
	collecting->release_at_ns = now_ns() + CLOCK_MS * NS_PER_MS;
	set_state(collecting, state);
}

static void release(struct tp_collecting *collecting)
{
	tp_session_release(&collecting->session);
	collecting->is_open = false;
	collecting->release_at_ns = 0;
	tp_newcomer_let_go();
}

static void let_go(struct tp_collecting *collecting)
{
	if (!collecting->release_at_ns)
		return;
	tp_session_tell_clock(&collecting->session);
	tp_session_flush(&collecting->session, false);
	release(collecting);
}

void tp_collecting_finish(struct tp_collecting *collecting)
{
	if (collecting->is_open) {
		tp_session_tell_clock(&collecting->session);
		tp_session_pause(&collecting->session);
	}
	if (collecting->is_open || collecting->release_at_ns) {
		tp_session_flush(&collecting->session, true);
		release(collecting);
	}
}

/* Not switched off: what is on is the other tool's by now. */
static void yield_to_thief(struct tp_collecting *collecting)
{
	tp_session_watch(&collecting->session, false);
	release(collecting);
	collecting->ring->header->owner[0] = '\0';
	set_state(collecting, TP_GPU_STATE_STOLEN);
}

/* Where the last look was that long ago. */
static void watch_newcomers(struct tp_collecting *collecting, uint64_t at_ns, uint64_t ms)
{
	if (collecting->loaded_at_ns && at_ns - collecting->loaded_at_ns < ms * NS_PER_MS)
		return;
	tp_newcomer_watch();
	collecting->loaded_at_ns = at_ns;
}

/* Another tool comes for CUPTI, and waits until it can have it. */
static void make_way(struct tp_collecting *collecting)
{
	enum tp_gpu_state state = TP_GPU_STATE_STOLEN;
	enum tp_newcomer newcomer = tp_newcomer_ask(collecting->ring->header->owner);
	if (newcomer == TP_NEWCOMER_NONE)
		return;
	tp_collecting_finish(collecting);
	if (newcomer == TP_NEWCOMER_SUBSCRIBES)
		state = tp_standaside_note_taken(&collecting->aside, now_ns()) ? TP_GPU_STATE_ASIDE
									       : TP_GPU_STATE_TAKEN;
	set_state(collecting, state);
	tp_newcomer_answer();
}

static void look_for_theft(struct tp_collecting *collecting, uint64_t at_ns)
{
	struct tp_session *session = &collecting->session;
	uint64_t n_moved = __atomic_load_n(&session->n_requested, __ATOMIC_RELAXED) +
			   __atomic_load_n(&session->n_returned, __ATOMIC_RELAXED);
	uint64_t n_called = __atomic_load_n(&session->n_called, __ATOMIC_RELAXED);
	switch (tp_theft_look(&collecting->theft, at_ns, n_moved, n_called)) {
	case TP_THEFT_WATCH:
		tp_session_watch(session, true);
		break;
	case TP_THEFT_UNWATCH:
		tp_session_watch(session, false);
		break;
	case TP_THEFT_STOLEN:
		yield_to_thief(collecting);
		break;
	case TP_THEFT_NONE:
		break;
	}
}

static void tend(struct tp_collecting *collecting, uint64_t at_ns)
{
	if (at_ns - collecting->clock_at_ns >= CLOCK_MS * NS_PER_MS) {
		tp_session_tell_clock(&collecting->session);
		collecting->clock_at_ns = at_ns;
	}
	tp_session_flush(&collecting->session, false);
	if (is_unread(collecting, at_ns))
		shut(collecting, TP_GPU_STATE_UNREAD);
	else
		look_for_theft(collecting, at_ns);
}

bool tp_collecting_is_reader_gone(const struct tp_ringwriter *ring)
{
	uint64_t seen_ns = __atomic_load_n(&ring->header->reader_ns, __ATOMIC_RELAXED);
	return now_ns() > seen_ns + READER_MS * NS_PER_MS;
}

/* Before the reader has found the ring it has not looked, and is not gone. */
static bool is_wanted(const struct tp_collecting *collecting, uint32_t wanted)
{
	bool was_read =
		__atomic_load_n(&collecting->ring->header->reader_ns, __ATOMIC_RELAXED) != 0;
	if (was_read && tp_collecting_is_reader_gone(collecting->ring))
		return false;
	if (wanted == TP_GPU_WANT_AS_STARTED)
		return !collecting->starts_idle;
	return wanted == TP_GPU_WANT_EVENTS;
}

/* Not before CUPTI is set up: what CUDA starts meanwhile would have it too. */
static void be_nicer(struct tp_collecting *collecting)
{
	id_t tid = (id_t)syscall(SYS_gettid);
	if (!collecting->is_nicer)
		setpriority(PRIO_PROCESS, tid, getpriority(PRIO_PROCESS, tid) + NICER);
	collecting->is_nicer = true;
}

static void note_open(struct tp_collecting *collecting, void (*at_exit)(void))
{
	tp_standaside_note_open(&collecting->aside);
	if (!collecting->is_registered)
		collecting->is_registered = atexit(at_exit) == 0;
	be_nicer(collecting);
}

static void open_session(struct tp_collecting *collecting, void (*at_exit)(void))
{
	let_go(collecting);
	watch_newcomers(collecting, now_ns(), 0);
	if (!tp_newcomer_hold())
		return; /* at the next look that one has CUPTI, or has left it */
	enum tp_gpu_state state = tp_session_open(&collecting->session);
	collecting->is_open = state == TP_GPU_STATE_OPEN;
	collecting->tail_at_ns = 0;
	collecting->theft = (struct tp_theft){0};
	if (collecting->is_open)
		note_open(collecting, at_exit);
	else
		tp_newcomer_let_go();
	if (state == TP_GPU_STATE_TAKEN && tp_standaside_note_taken(&collecting->aside, now_ns()))
		state = TP_GPU_STATE_ASIDE;
	set_state(collecting, state);
}

/* Until somebody reads, or until another tool may be done. */
static bool has_to_pause(const struct tp_collecting *collecting, enum tp_gpu_state state,
			 uint64_t at_ns)
{
	if (state == TP_GPU_STATE_UNREAD)
		return __atomic_load_n(&collecting->ring->header->tail, __ATOMIC_RELAXED) ==
		       collecting->tail;
	return state == TP_GPU_STATE_ASIDE && !tp_standaside_may_try(&collecting->aside, at_ns);
}

/* CUPTI tells nothing, and will not. */
static bool is_hopeless(const struct tp_collecting *collecting)
{
	return tp_ringwriter_state(collecting->ring) >= TP_GPU_STATE_NO_CUPTI;
}

/* As the reader wants it, unless that has to wait. */
static void follow(struct tp_collecting *collecting, uint32_t wanted, void (*at_exit)(void))
{
	uint64_t at_ns = now_ns();
	enum tp_gpu_state state = tp_ringwriter_state(collecting->ring);
	bool is_at_rest = state == TP_GPU_STATE_ASIDE || state == TP_GPU_STATE_IDLE;
	bool is_paused = has_to_pause(collecting, state, at_ns);
	if (!is_wanted(collecting, wanted)) {
		if (collecting->is_open)
			shut(collecting, TP_GPU_STATE_IDLE);
		else if (!is_at_rest)
			set_state(collecting, TP_GPU_STATE_IDLE);
	} else if (!collecting->is_open && !is_paused) {
		open_session(collecting, at_exit);
	}
	if (collecting->is_open)
		tend(collecting, at_ns);
	else if (collecting->release_at_ns && at_ns >= collecting->release_at_ns)
		let_go(collecting);
}

static void seek_cupti(struct tp_collecting *collecting)
{
	bool is_found = tp_seekcupti(&collecting->session, collecting->ring, collecting->is_late);
	collecting->cupti = is_found ? TP_CUPTI_FOUND : TP_CUPTI_GONE;
	if (is_found)
		tp_newcomer_begin(&collecting->session.lib, collecting->ring);
}

void tp_collecting_look(struct tp_collecting *collecting, uint32_t wanted, bool may_seek,
			void (*at_exit)(void))
{
	__atomic_store_n(&collecting->ring->header->heartbeat_ns, now_ns(), __ATOMIC_RELAXED);
	if (collecting->cupti == TP_CUPTI_UNSOUGHT && may_seek)
		seek_cupti(collecting);
	if (collecting->cupti != TP_CUPTI_FOUND)
		return;
	watch_newcomers(collecting, now_ns(), LOADED_MS);
	make_way(collecting);
	if (!is_hopeless(collecting))
		follow(collecting, wanted, at_exit);
	if (is_hopeless(collecting))
		collecting->cupti = TP_CUPTI_GONE;
}

bool tp_collecting_is_busy(const struct tp_collecting *collecting)
{
	return collecting->is_open || collecting->release_at_ns;
}

void tp_collecting_leave(struct tp_collecting *collecting)
{
	const struct timespec nap = {.tv_nsec = CLOCK_MS * (long)NS_PER_MS};
	if (collecting->is_open)
		shut(collecting, TP_GPU_STATE_IDLE);
	if (collecting->release_at_ns)
		nanosleep(&nap, NULL);
	let_go(collecting);
}
