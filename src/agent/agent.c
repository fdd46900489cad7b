/* The agent in the measured program: one thread that opens, tends and closes a session, and brings
 * ranges of NVTX into the ring. */
#include "agent.h"

#include "cuptisession.h"
#include "hostclock.h"
#include "newcomer.h"
#include "nvtx.h"
#include "ranges.h"
#include "seekcupti.h"
#include "standaside.h"
#include "theft.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	OPEN_MS = 100,     /* between two looks while collecting */
	IDLE_MS = 200,     /* else */
	MANY_MS = 1,       /* while ranges wait that cannot be taken: one is being written */
	CLOCK_MS = 200,    /* between two readings of the clocks */
	LOADED_MS = 1000,  /* between two looks at what has been loaded: a child that is forked
			      while the loader is asked waits for it */
	UNREAD_MS = 10000, /* that a full ring is waited for */
	READER_MS = 10000, /* without a look of the reader, which then is taken to be gone */
	EXIT_MS = 2000,    /* that the end of a program is held up at most, should CUPTI hang */
	NICER = 5,
};

#define NS_PER_MS UINT64_C(1000000)

/* By which somebody called us in: the driver, a module that has ranges. */
enum door { DOOR_CUDA, DOOR_NVTX, N_DOORS };

/* One in a process, as the doors have no context. The ring outlives everything. */
static struct {
	pthread_once_t once;
	struct tp_ringwriter ring;
	struct tp_session session;
	struct tp_theft theft;
	struct tp_standaside aside;
	int is_tended;  /* its thread is there, or will be at once */
	bool may_leave; /* it joined a program that ran: leaving is up to the reader */
	bool is_nicer;  /* this thread */
	bool starts_idle;
	int has_come[N_DOORS];
	enum { CUPTI_UNSOUGHT, CUPTI_FOUND, CUPTI_GONE } cupti;
	bool is_open;
	uint64_t clock_at_ns;
	uint64_t loaded_at_ns;
	uint64_t release_at_ns; /* when what was paused is let go of; 0 = nothing is */
	uint64_t tail;          /* of the reader, and since when */
	uint64_t tail_at_ns;
	uint64_t n_gone; /* dropped events at that time */
	void *block;     /* mapping that joining left behind */
	size_t block_bytes;
	pid_t comer; /* the thread that joined */
	int is_over; /* the program ends */
	int is_done; /* the thread has done its last */
} agent = {.once = PTHREAD_ONCE_INIT};

static uint64_t now_ns(void)
{
	return tp_hostclock_ns(CLOCK_MONOTONIC);
}

static uint32_t *wanted_word(void)
{
	return &agent.ring.header->wanted;
}

/* ---- the end of the program ----------------------------------------------------------------- */

/*
 * By exit(): before the exit handlers of CUPTI, because it is registered after them. The thread
 * does the work, so that a CUPTI that hangs holds nothing up for good.
 */
static void on_exit_of_program(void)
{
	if (!tp_ringwriter_is_ours(&agent.ring))
		return;
	__atomic_store_n(&agent.is_over, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < EXIT_MS && !__atomic_load_n(&agent.is_done, __ATOMIC_ACQUIRE); i++) {
		const struct timespec nap = {.tv_nsec = (long)NS_PER_MS};
		syscall(SYS_futex, wanted_word(), FUTEX_WAKE, 1, NULL, NULL, 0);
		nanosleep(&nap, NULL);
	}
}

/* ---- the thread ----------------------------------------------------------------------------- */

static void set_state(enum tp_gpu_state state)
{
	tp_ringwriter_set_state(&agent.ring, state);
}

static uint64_t n_dropped(void)
{
	const struct tp_gpu_ring_header *header = agent.ring.header;
	uint64_t sum = 0;
	for (size_t i = 0; i < TP_GPU_EVENT_TYPES; i++)
		sum += __atomic_load_n(&header->n_dropped[i], __ATOMIC_RELAXED);
	return sum;
}

/* Nobody reads: events are dropped, and the reader's word has not moved for long. */
static bool is_unread(uint64_t at_ns)
{
	uint64_t tail = __atomic_load_n(&agent.ring.header->tail, __ATOMIC_RELAXED);
	if (tail != agent.tail || !agent.tail_at_ns || n_dropped() == agent.n_gone) {
		agent.tail = tail;
		agent.tail_at_ns = at_ns;
		agent.n_gone = n_dropped();
		return false;
	}
	return at_ns - agent.tail_at_ns >= UNREAD_MS * NS_PER_MS;
}

static void shut(enum tp_gpu_state state)
{
	tp_session_pause(&agent.session);
	tp_session_flush(&agent.session, false);
	agent.is_open = false;
	/* Work that was launched has yet to end; once more, then another tool may come. */
	agent.release_at_ns = now_ns() + CLOCK_MS * NS_PER_MS;
	set_state(state);
}

static void release(void)
{
	tp_session_release(&agent.session);
	agent.is_open = false;
	agent.release_at_ns = 0;
	tp_newcomer_let_go();
}

static void let_go(void)
{
	if (!agent.release_at_ns)
		return;
	tp_session_tell_clock(&agent.session);
	tp_session_flush(&agent.session, false);
	release();
}

/* Nothing more will be delivered to us: what is incomplete comes as it is. */
static void let_go_at_once(void)
{
	if (agent.is_open) {
		tp_session_tell_clock(&agent.session);
		tp_session_pause(&agent.session);
	}
	if (agent.is_open || agent.release_at_ns) {
		tp_session_flush(&agent.session, true);
		release();
	}
}

/* Not switched off: what is on is the other tool's by now. */
static void yield_to_thief(void)
{
	tp_session_watch(&agent.session, false);
	release();
	agent.ring.header->owner[0] = '\0';
	set_state(TP_GPU_STATE_STOLEN);
}

/* Where the last look was that long ago. */
static void watch_newcomers(uint64_t at_ns, uint64_t ms)
{
	if (agent.loaded_at_ns && at_ns - agent.loaded_at_ns < ms * NS_PER_MS)
		return;
	tp_newcomer_watch();
	agent.loaded_at_ns = at_ns;
}

/* Another tool comes for CUPTI, and waits until it can have it. */
static void make_way(void)
{
	enum tp_gpu_state state = TP_GPU_STATE_STOLEN;
	enum tp_newcomer newcomer = tp_newcomer_ask(agent.ring.header->owner);
	if (newcomer == TP_NEWCOMER_NONE)
		return;
	let_go_at_once();
	if (newcomer == TP_NEWCOMER_SUBSCRIBES)
		state = tp_standaside_note_taken(&agent.aside, now_ns()) ? TP_GPU_STATE_ASIDE
									 : TP_GPU_STATE_TAKEN;
	set_state(state);
	tp_newcomer_answer();
}

static void look_for_theft(uint64_t at_ns)
{
	struct tp_session *session = &agent.session;
	uint64_t n_moved = __atomic_load_n(&session->n_requested, __ATOMIC_RELAXED) +
			   __atomic_load_n(&session->n_returned, __ATOMIC_RELAXED);
	uint64_t n_called = __atomic_load_n(&session->n_called, __ATOMIC_RELAXED);
	switch (tp_theft_look(&agent.theft, at_ns, n_moved, n_called)) {
	case TP_THEFT_WATCH:
		tp_session_watch(session, true);
		break;
	case TP_THEFT_UNWATCH:
		tp_session_watch(session, false);
		break;
	case TP_THEFT_STOLEN:
		yield_to_thief();
		break;
	case TP_THEFT_NONE:
		break;
	}
}

static void tend(uint64_t at_ns)
{
	if (at_ns - agent.clock_at_ns >= CLOCK_MS * NS_PER_MS) {
		tp_session_tell_clock(&agent.session);
		agent.clock_at_ns = at_ns;
	}
	tp_session_flush(&agent.session, false);
	if (is_unread(at_ns))
		shut(TP_GPU_STATE_UNREAD);
	else
		look_for_theft(at_ns);
}

/* Killed, perhaps, while it wanted events: nobody else would end what that costs. */
static bool is_reader_gone(void)
{
	uint64_t seen_ns = __atomic_load_n(&agent.ring.header->reader_ns, __ATOMIC_RELAXED);
	return now_ns() > seen_ns + READER_MS * NS_PER_MS;
}

/* Before the reader has found the ring it has not looked, and is not gone. */
static bool is_wanted(uint32_t wanted)
{
	bool was_read = __atomic_load_n(&agent.ring.header->reader_ns, __ATOMIC_RELAXED) != 0;
	if (was_read && is_reader_gone())
		return false;
	if (wanted == TP_GPU_WANT_AS_STARTED)
		return !agent.starts_idle;
	return wanted == TP_GPU_WANT_EVENTS;
}

static void open_session(void)
{
	static bool is_registered;
	let_go();
	watch_newcomers(now_ns(), 0);
	if (!tp_newcomer_hold())
		return; /* at the next look that one has CUPTI, or has left it */
	enum tp_gpu_state state = tp_session_open(&agent.session);
	agent.is_open = state == TP_GPU_STATE_OPEN;
	if (!agent.is_open)
		tp_newcomer_let_go();
	agent.tail_at_ns = 0;
	agent.theft = (struct tp_theft){0};
	if (agent.is_open)
		tp_standaside_note_open(&agent.aside);
	if (state == TP_GPU_STATE_TAKEN && tp_standaside_note_taken(&agent.aside, now_ns()))
		state = TP_GPU_STATE_ASIDE;
	if (agent.is_open && !is_registered)
		is_registered = atexit(on_exit_of_program) == 0;
	if (agent.is_open && !agent.is_nicer) {
		/* Not before: what CUDA starts while we set up would have it too. */
		id_t tid = (id_t)syscall(SYS_gettid);
		setpriority(PRIO_PROCESS, tid, getpriority(PRIO_PROCESS, tid) + NICER);
		agent.is_nicer = true;
	}
	set_state(state);
}

/* Until somebody reads, or until another tool may be done. */
static bool has_to_pause(enum tp_gpu_state state, uint64_t at_ns)
{
	if (state == TP_GPU_STATE_UNREAD)
		return __atomic_load_n(&agent.ring.header->tail, __ATOMIC_RELAXED) == agent.tail;
	return state == TP_GPU_STATE_ASIDE && !tp_standaside_may_try(&agent.aside, at_ns);
}

/* ---- ranges --------------------------------------------------------------------------------- */

static void tell_ranges(void)
{
	if (__atomic_load_n(&agent.has_come[DOOR_NVTX], __ATOMIC_ACQUIRE))
		tp_ranges_drain(now_ns(), true);
}

/* ---- the loop ------------------------------------------------------------------------------- */

/* CUPTI tells nothing, and will not. */
static bool is_hopeless(void)
{
	return tp_ringwriter_state(&agent.ring) >= TP_GPU_STATE_NO_CUPTI;
}

/* One look. False: there is nothing more to do, ever. */
static bool look(uint32_t wanted)
{
	uint64_t at_ns = now_ns();
	enum tp_gpu_state state = tp_ringwriter_state(&agent.ring);
	bool is_aside = state == TP_GPU_STATE_ASIDE;
	bool is_paused = has_to_pause(state, at_ns);
	__atomic_store_n(&agent.ring.header->heartbeat_ns, at_ns, __ATOMIC_RELAXED);
	if (!agent.is_open && is_wanted(wanted) && !is_paused)
		open_session();
	else if (agent.is_open && !is_wanted(wanted))
		shut(TP_GPU_STATE_IDLE);
	else if (!agent.is_open && !is_wanted(wanted) && !is_aside && state != TP_GPU_STATE_IDLE)
		set_state(TP_GPU_STATE_IDLE);
	if (agent.is_open)
		tend(at_ns);
	else if (agent.release_at_ns && at_ns >= agent.release_at_ns)
		let_go();
	return !is_hopeless();
}

static void wait_for(uint32_t wanted)
{
	bool has_nvtx = __atomic_load_n(&agent.has_come[DOOR_NVTX], __ATOMIC_RELAXED);
	long ms = agent.is_open || agent.release_at_ns || has_nvtx ? OPEN_MS : IDLE_MS;
	/* Its thread may never come back to it: then they wait for good. */
	if (has_nvtx && tp_ranges_are_many())
		ms = MANY_MS;
	const struct timespec nap = {.tv_nsec = ms * (long)NS_PER_MS};
	syscall(SYS_futex, wanted_word(), FUTEX_WAIT, wanted, &nap, NULL, 0);
}

static void finish(void)
{
	let_go_at_once();
	tell_ranges();
	if (agent.cupti != CUPTI_GONE)
		set_state(TP_GPU_STATE_FINISHED);
}

/* Told to go, or nobody is there who could tell. */
static bool is_dismissed(void)
{
	const struct tp_gpu_ring_header *header = agent.ring.header;
	if (!agent.may_leave)
		return false;
	return __atomic_load_n(&header->wanted, __ATOMIC_RELAXED) == TP_GPU_WANT_LEAVE ||
	       is_reader_gone();
}

/* As before we came, but for what stays mapped: CUPTI has our functions. */
static void leave(void)
{
	const struct timespec nap = {.tv_nsec = CLOCK_MS * (long)NS_PER_MS};
	if (agent.is_open)
		shut(TP_GPU_STATE_IDLE);
	if (agent.release_at_ns)
		nanosleep(&nap, NULL);
	let_go();
	if (agent.cupti != CUPTI_GONE)
		set_state(TP_GPU_STATE_FINISHED);
	/* The thread that came by the door has its code there, and may be slow to go. */
	if (agent.block_bytes && syscall(SYS_tgkill, getpid(), agent.comer, 0) != 0)
		munmap(agent.block, agent.block_bytes);
}

static bool is_over(void)
{
	return __atomic_load_n(&agent.is_over, __ATOMIC_ACQUIRE);
}

static void seek_cupti(void)
{
	bool is_found = tp_seekcupti(&agent.session, &agent.ring, agent.may_leave);
	agent.cupti = is_found ? CUPTI_FOUND : CUPTI_GONE;
	if (is_found)
		tp_newcomer_begin(&agent.session.lib, &agent.ring);
}

/* Not before CUDA begins: loading CUPTI would begin it. */
static void look_at_cupti(uint32_t wanted)
{
	__atomic_store_n(&agent.ring.header->heartbeat_ns, now_ns(), __ATOMIC_RELAXED);
	if (agent.cupti == CUPTI_UNSOUGHT &&
	    __atomic_load_n(&agent.has_come[DOOR_CUDA], __ATOMIC_ACQUIRE))
		seek_cupti();
	if (agent.cupti != CUPTI_FOUND)
		return;
	watch_newcomers(now_ns(), LOADED_MS);
	make_way();
	if (is_hopeless() || !look(wanted))
		agent.cupti = CUPTI_GONE;
}

static void *run(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "trainprof-gpu");
	agent.ring.header->agent_tid = (uint32_t)syscall(SYS_gettid);
	while (!is_over() && !is_dismissed()) {
		uint32_t wanted = __atomic_load_n(wanted_word(), __ATOMIC_RELAXED);
		tell_ranges();
		look_at_cupti(wanted);
		if (!is_over() && !is_dismissed())
			wait_for(wanted);
	}
	if (is_over())
		finish();
	else
		leave();
	tp_newcomer_end();
	__atomic_store_n(&agent.is_done, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&agent.is_tended, 0, __ATOMIC_RELEASE);
	return NULL;
}

/* ---- the doors ------------------------------------------------------------------------------ */

/* No signal of the program is ever handled in our thread, or in those that CUPTI starts from it. */
static void start_thread(void)
{
	agent.is_nicer = false;
	agent.is_done = 0;
	sigset_t all;
	sigset_t before;
	pthread_attr_t attributes;
	pthread_t thread;
	if (pthread_attr_init(&attributes) != 0)
		return;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int failure = pthread_create(&thread, &attributes, run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	if (failure) {
		agent.ring.header->error = failure;
		set_state(TP_GPU_STATE_NO_ROOM);
		agent.is_done = 1; /* nobody is waited for at the end */
		__atomic_store_n(&agent.is_tended, 0, __ATOMIC_RELEASE);
	}
}

/* Whoever is told "no" has it from then on. In a forked child the thread is the parent's. */
static bool is_claimed(void)
{
	return __atomic_exchange_n(&agent.is_tended, 1, __ATOMIC_ACQ_REL) &&
	       (!agent.ring.header || tp_ringwriter_is_ours(&agent.ring));
}

static void begin(void)
{
	const char *directory = secure_getenv(TP_GPU_RINGS_ENV);
	const char *how = secure_getenv(TP_GPU_ENV);
	int saved = errno;
	if (directory && *directory && !(how && strcmp(how, "0") == 0) && !is_claimed()) {
		agent.starts_idle = how && strcmp(how, "idle") == 0;
		if (tp_ringwriter_create(&agent.ring, directory, TP_GPU_RING_EVENTS) == 0) {
			tp_session_init(&agent.session, &agent.ring);
			agent.session.has_ranges = tp_ranges_init(&agent.ring, &agent.session.lock);
			start_thread();
		} else {
			__atomic_store_n(&agent.is_tended, 0, __ATOMIC_RELEASE);
		}
	}
	errno = saved;
}

/* Whoever comes first begins; who comes later is noticed by the thread. False: there is no agent
 * in this process. */
static bool come(enum door door)
{
	pthread_once(&agent.once, begin);
	if (!tp_ringwriter_is_ours(&agent.ring) || agent.may_leave)
		return false;
	__atomic_store_n(&agent.has_come[door], 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, wanted_word(), FUTEX_WAKE, 1, NULL, NULL, 0);
	return true;
}

/* NVIDIA's names. NOLINTNEXTLINE(readability-identifier-naming) */
__attribute__((visibility("default"))) int InitializeInjection(void)
{
	come(DOOR_CUDA);
	return 1;
}

/* In the program's thread, for the program may end before ours has begun. Handlers that CUPTI's
 * session registers come later, and so run before this one. */
static void register_exit(void)
{
	atexit(on_exit_of_program);
}

static bool come_by_nvtx(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	if (!come(DOOR_NVTX) || !agent.session.has_ranges)
		return false;
	pthread_once(&once, register_exit);
	return true;
}

/* NOLINTNEXTLINE(readability-identifier-naming) */
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(nvtx_get_table get_table)
{
	return come_by_nvtx() && tp_nvtx_attach(get_table);
}

/* NOLINTNEXTLINE(readability-identifier-naming) */
__attribute__((visibility("default"))) int
InitializeInjectionNvtxExtension(const struct nvtx_extension *extension)
{
	if (!come_by_nvtx())
		return 0;
	tp_nvtx_attach_extension(extension);
	return 1;
}

/* A ring for a reader that joins: 0 or an errno. One of trainprof run stays that, and what the
 * parent of a forked child had is of no use. */
static int join(void)
{
	if (agent.ring.header && !tp_ringwriter_is_ours(&agent.ring))
		return ECHILD;
	if (agent.ring.header && !agent.ring.is_nameless)
		return EBUSY;
	int failure = agent.ring.header
			      ? tp_ringwriter_renew(&agent.ring)
			      : tp_ringwriter_create(&agent.ring, NULL, TP_GPU_RING_EVENTS);
	if (failure)
		return failure;
	agent.may_leave = true;
	agent.starts_idle = true;
	agent.has_come[DOOR_CUDA] = 1;
	if (!agent.session.ring)
		tp_session_init(&agent.session, &agent.ring);
	if (agent.cupti == CUPTI_GONE) /* what was in the way may be gone */
		agent.cupti = CUPTI_UNSOUGHT;
	agent.aside = (struct tp_standaside){0};
	__atomic_store_n(&agent.ring.header->reader_ns, now_ns(), __ATOMIC_RELAXED);
	return 0;
}

__attribute__((visibility("default"))) int trainprof_agent_attach(void *block, size_t bytes)
{
	const char *how = secure_getenv(TP_GPU_ENV);
	if (how && strcmp(how, "0") == 0)
		return -ECANCELED;
	if (is_claimed())
		return -EBUSY;
	int failure = join();
	if (failure) {
		__atomic_store_n(&agent.is_tended, 0, __ATOMIC_RELEASE);
		return -failure;
	}
	agent.block = block;
	agent.block_bytes = bytes;
	agent.comer = (pid_t)syscall(SYS_gettid);
	start_thread();
	return agent.ring.fd;
}
