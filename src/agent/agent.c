/* The agent in the measured program: one thread that opens, tends and closes a session. */
#include "agent.h"

#include "cuptisession.h"
#include "theft.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	OPEN_MS = 100,     /* between two looks while collecting */
	IDLE_MS = 200,     /* else */
	CLOCK_MS = 200,    /* between two readings of the clocks */
	UNREAD_MS = 10000, /* that a full ring is waited for */
	EXIT_MS = 2000,    /* that the end of a program is held up at most, should CUPTI hang */
	NICER = 5,
};

#define NS_PER_MS UINT64_C(1000000)

/* One in a process, as the doors have no context. The ring outlives everything. */
static struct {
	pthread_once_t once;
	struct tp_ringwriter ring;
	struct tp_session session;
	struct tp_theft theft;
	bool starts_idle;
	bool is_open;
	uint64_t clock_at_ns;
	uint64_t release_at_ns; /* when what was paused is let go of; 0 = nothing is */
	uint64_t tail;          /* of the reader, and since when */
	uint64_t tail_at_ns;
	uint64_t n_gone; /* dropped events at that time */
	int is_over;     /* the program ends */
	int is_done;     /* the thread has done its last */
} agent = {.once = PTHREAD_ONCE_INIT};

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
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

static void let_go(void)
{
	if (!agent.release_at_ns)
		return;
	tp_session_tell_clock(&agent.session);
	tp_session_flush(&agent.session, false);
	tp_session_release(&agent.session);
	agent.release_at_ns = 0;
}

/* Not switched off: what is on is the other tool's by now. */
static void yield_to_thief(void)
{
	tp_session_watch(&agent.session, false);
	tp_session_release(&agent.session);
	agent.is_open = false;
	set_state(TP_GPU_STATE_STOLEN);
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

static bool is_wanted(uint32_t wanted)
{
	if (wanted == TP_GPU_WANT_AS_STARTED)
		return !agent.starts_idle;
	return wanted == TP_GPU_WANT_EVENTS;
}

static void open_session(void)
{
	static bool is_first = true;
	let_go();
	enum tp_gpu_state state = tp_session_open(&agent.session);
	agent.is_open = state == TP_GPU_STATE_OPEN;
	agent.tail_at_ns = 0;
	agent.theft = (struct tp_theft){0};
	if (agent.is_open && is_first) {
		atexit(on_exit_of_program);
		/* Not before: what CUDA starts while we set up would have it too. */
		id_t tid = (id_t)syscall(SYS_gettid);
		setpriority(PRIO_PROCESS, tid, getpriority(PRIO_PROCESS, tid) + NICER);
		is_first = false;
	}
	set_state(state);
}

/* One look. False: there is nothing more to do, ever. */
static bool look(uint32_t wanted)
{
	uint64_t at_ns = now_ns();
	enum tp_gpu_state state = tp_ringwriter_state(&agent.ring);
	bool is_paused = state == TP_GPU_STATE_UNREAD &&
			 __atomic_load_n(&agent.ring.header->tail, __ATOMIC_RELAXED) == agent.tail;
	__atomic_store_n(&agent.ring.header->heartbeat_ns, at_ns, __ATOMIC_RELAXED);
	if (!agent.is_open && is_wanted(wanted) && !is_paused)
		open_session();
	else if (agent.is_open && !is_wanted(wanted))
		shut(TP_GPU_STATE_IDLE);
	else if (!agent.is_open && !is_wanted(wanted) && state != TP_GPU_STATE_IDLE)
		set_state(TP_GPU_STATE_IDLE);
	if (agent.is_open)
		tend(at_ns);
	else if (agent.release_at_ns && at_ns >= agent.release_at_ns)
		let_go();
	return tp_ringwriter_state(&agent.ring) < TP_GPU_STATE_NO_CUPTI;
}

static void wait_for(uint32_t wanted)
{
	long ms = agent.is_open || agent.release_at_ns ? OPEN_MS : IDLE_MS;
	const struct timespec nap = {.tv_nsec = ms * (long)NS_PER_MS};
	syscall(SYS_futex, wanted_word(), FUTEX_WAIT, wanted, &nap, NULL, 0);
}

static void finish(void)
{
	if (agent.is_open) {
		tp_session_tell_clock(&agent.session);
		tp_session_pause(&agent.session);
	}
	if (agent.is_open || agent.release_at_ns) {
		tp_session_flush(&agent.session, true);
		tp_session_release(&agent.session);
	}
	set_state(TP_GPU_STATE_FINISHED);
}

/* False: no CUPTI that could be used. */
static bool find_cupti(void)
{
	struct tp_cuptilib *lib = &agent.session.lib;
	struct tp_gpu_ring_header *header = agent.ring.header;
	bool is_found = tp_cuptilib_open(lib);
	memcpy(header->library, lib->path, sizeof(lib->path));
	header->cupti_version = lib->version;
	header->driver_version = lib->driver_version;
	if (!is_found) {
		if (lib->missing)
			strncpy(header->failed_call, lib->missing, sizeof(header->failed_call) - 1);
		set_state(TP_GPU_STATE_NO_CUPTI);
		return false;
	}
	if (lib->version < CUPTI_OLDEST || lib->version >= CUPTI_TOO_NEW) {
		set_state(TP_GPU_STATE_UNFIT);
		return false;
	}
	return true;
}

static void *run(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "trainprof-gpu");
	agent.ring.header->agent_tid = (uint32_t)syscall(SYS_gettid);
	__atomic_store_n(&agent.ring.header->heartbeat_ns, now_ns(), __ATOMIC_RELAXED);
	bool goes_on = find_cupti();
	while (goes_on && !__atomic_load_n(&agent.is_over, __ATOMIC_ACQUIRE)) {
		uint32_t wanted = __atomic_load_n(wanted_word(), __ATOMIC_RELAXED);
		goes_on = look(wanted);
		if (goes_on && !__atomic_load_n(&agent.is_over, __ATOMIC_ACQUIRE))
			wait_for(wanted);
	}
	if (goes_on)
		finish();
	__atomic_store_n(&agent.is_done, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* ---- the doors ------------------------------------------------------------------------------ */

/* No signal of the program is ever handled in our thread, or in those that CUPTI starts from it. */
static void start_thread(void)
{
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
	}
}

static void begin(void)
{
	const char *directory = secure_getenv(TP_GPU_RINGS_ENV);
	const char *how = secure_getenv(TP_GPU_ENV);
	int saved = errno;
	if (directory && *directory && !(how && strcmp(how, "0") == 0)) {
		agent.starts_idle = how && strcmp(how, "idle") == 0;
		if (tp_ringwriter_create(&agent.ring, directory, TP_GPU_RING_EVENTS) == 0) {
			tp_session_init(&agent.session, &agent.ring);
			start_thread();
		}
	}
	errno = saved;
}

/* NVIDIA's names. NOLINTNEXTLINE(readability-identifier-naming) */
__attribute__((visibility("default"))) int InitializeInjection(void)
{
	pthread_once(&agent.once, begin);
	return 1;
}
