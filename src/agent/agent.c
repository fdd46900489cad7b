/* SPDX-License-Identifier: Apache-2.0 */
/* The agent inside the measured program: its entry points and its single thread, which collects GPU
 * records with CUPTI and copies NVTX ranges into the ring. */
#include "agent.h"

#include "agent/cupti/cupti_handoff.h"
#include "agent/cupti/cupti_lifecycle.h"
#include "agent/cupti/exit_guard.h"
#include "agent/nvtx/nvtx.h"
#include "agent/nvtx/nvtx_ranges.h"
#include "agent/ring/host_clock.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	OPEN_MS = 100, /* polling interval while collecting */
	IDLE_MS = 200, /* polling interval otherwise */
	MANY_MS = 1, /* polling interval while a range blocks the queue because its thread is still
			writing it */
};

#define NS_PER_MS UINT64_C(1000000)

/* The entry point that was called: by the CUDA driver, or by a module that uses NVTX. */
enum agent_entry { ENTRY_CUDA, ENTRY_NVTX, N_ENTRIES };

/*
 * One instance per process, because the entry points carry no context. The ring is never unmapped.
 */
static struct {
	pthread_once_t once;
	struct tp_ring_writer ring;
	struct tp_cupti_lifecycle collecting;
	int has_thread; /* the agent's thread exists or is being created */
	bool may_leave; /* the agent was attached to a running program, so the reader may ask it to
			   leave */
	int was_entered[N_ENTRIES];
	void *block; /* mapping that attach left behind */
	size_t block_bytes;
	pid_t attach_tid; /* the thread that attach created */
} agent = {.once = PTHREAD_ONCE_INIT};

static uint64_t now_ns(void)
{
	return tp_host_clock_ns(CLOCK_MONOTONIC);
}

static uint32_t *request_word(void)
{
	return &agent.ring.header->wanted;
}

/* ---- the thread ----------------------------------------------------------------------------- */

static void emit_ranges(void)
{
	if (__atomic_load_n(&agent.was_entered[ENTRY_NVTX], __ATOMIC_ACQUIRE))
		tp_nvtx_ranges_drain(now_ns(), true);
}

static void wait_for(uint32_t wanted)
{
	bool has_nvtx = __atomic_load_n(&agent.was_entered[ENTRY_NVTX], __ATOMIC_RELAXED);
	long ms = tp_cupti_lifecycle_is_active(&agent.collecting) || has_nvtx ? OPEN_MS : IDLE_MS;
	/* The thread that is writing a range may never finish it; the queue would then stay
	 * blocked. */
	if (has_nvtx && tp_nvtx_ranges_need_drain())
		ms = MANY_MS;
	const struct timespec nap = {.tv_nsec = ms * (long)NS_PER_MS};
	syscall(SYS_futex, request_word(), FUTEX_WAIT, wanted, &nap, NULL, 0);
}

static void emit_end(void)
{
	if (agent.collecting.cupti != TP_CUPTI_LIFECYCLE_ABSENT)
		tp_ring_writer_set_state(&agent.ring, TP_GPU_STATE_FINISHED);
}

static void finish(void)
{
	tp_cupti_lifecycle_finish(&agent.collecting);
	emit_ranges();
	emit_end();
}

/* True when the reader asked the agent to leave, or when no reader is left to ask. */
static bool is_dismissed(void)
{
	const struct tp_gpu_ring_header *header = agent.ring.header;
	if (!agent.may_leave)
		return false;
	return __atomic_load_n(&header->wanted, __ATOMIC_RELAXED) == TP_GPU_REQUEST_LEAVE ||
	       tp_cupti_lifecycle_is_reader_dead(&agent.ring);
}

/* Restores the state from before the agent came, except that its code stays mapped: CUPTI keeps
 * pointers to it. */
static void leave(void)
{
	tp_cupti_lifecycle_leave(&agent.collecting);
	emit_end();
	/* The thread that attach created runs code in that block and may exit late. */
	if (agent.block_bytes && syscall(SYS_tgkill, getpid(), agent.attach_tid, 0) != 0)
		munmap(agent.block, agent.block_bytes);
}

static void *run(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "trainprof-gpu");
	agent.ring.header->agent_tid = (uint32_t)syscall(SYS_gettid);
	while (!tp_exit_guard_is_over() && !is_dismissed()) {
		uint32_t wanted = __atomic_load_n(request_word(), __ATOMIC_RELAXED);
		emit_ranges();
		tp_exit_guard_set_inside(true);
		tp_cupti_lifecycle_tick(&agent.collecting, wanted,
					__atomic_load_n(&agent.was_entered[ENTRY_CUDA],
							__ATOMIC_ACQUIRE));
		tp_exit_guard_set_inside(false);
		if (!tp_exit_guard_is_over() && !is_dismissed())
			wait_for(wanted);
	}
	if (tp_exit_guard_is_over())
		finish();
	else
		leave();
	tp_cupti_handoff_end();
	tp_exit_guard_end();
	__atomic_store_n(&agent.has_thread, 0, __ATOMIC_RELEASE);
	return NULL;
}

/* ---- entry points --------------------------------------------------------------------------- */

/* Blocks all signals in the agent's thread, and so in the threads that CUPTI starts from it: the
 * program's handlers must not run there. */
static void start_thread(void)
{
	sigset_t all;
	sigset_t before;
	pthread_attr_t attributes;
	pthread_t thread;
	if (pthread_attr_init(&attributes) != 0)
		return;
	tp_exit_guard_begin(&agent.ring);
	/* Registered in the program's thread, because the program may end before the agent's thread
	 * starts. */
	tp_exit_guard_register();
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int failure = pthread_create(&thread, &attributes, run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	if (failure) {
		agent.ring.header->error = failure;
		tp_ring_writer_set_state(&agent.ring, TP_GPU_STATE_NO_ROOM);
		tp_exit_guard_end();
		__atomic_store_n(&agent.has_thread, 0, __ATOMIC_RELEASE);
	}
}

/* After a return of false the ring belongs to the caller. In a forked child the agent's thread
 * belongs to the parent. */
static bool is_claimed(void)
{
	return __atomic_exchange_n(&agent.has_thread, 1, __ATOMIC_ACQ_REL) &&
	       (!agent.ring.header || tp_ring_writer_is_ours(&agent.ring));
}

static void begin(void)
{
	const char *directory = secure_getenv(TP_GPU_RINGS_ENV);
	const char *how = secure_getenv(TP_GPU_ENV);
	int saved = errno;
	if (directory && *directory && !(how && strcmp(how, "0") == 0) && !is_claimed()) {
		if (tp_ring_writer_create(&agent.ring, directory, TP_GPU_RING_EVENTS) == 0) {
			struct tp_cupti_session *session = &agent.collecting.session;
			tp_cupti_lifecycle_begin(&agent.collecting, &agent.ring);
			agent.collecting.starts_idle = how && strcmp(how, "idle") == 0;
			session->has_ranges = tp_nvtx_ranges_init(&agent.ring, &session->lock);
			start_thread();
		} else {
			__atomic_store_n(&agent.has_thread, 0, __ATOMIC_RELEASE);
		}
	}
	errno = saved;
}

/* The first caller starts the agent; the thread notices later callers. Returns false if this
 * process has no agent. */
static bool enter(enum agent_entry entry)
{
	pthread_once(&agent.once, begin);
	if (!tp_ring_writer_is_ours(&agent.ring) || agent.may_leave)
		return false;
	__atomic_store_n(&agent.was_entered[entry], 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, request_word(), FUTEX_WAKE, 1, NULL, NULL, 0);
	return true;
}

/* NVIDIA's names. NOLINTNEXTLINE(readability-identifier-naming) */
__attribute__((visibility("default"))) int InitializeInjection(void)
{
	enter(ENTRY_CUDA);
	return 1;
}

static bool enter_by_nvtx(void)
{
	return enter(ENTRY_NVTX) && agent.collecting.session.has_ranges;
}

/* NOLINTNEXTLINE(readability-identifier-naming) */
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(nvtx_get_table get_table)
{
	return enter_by_nvtx() && tp_nvtx_attach(get_table);
}

/* NOLINTNEXTLINE(readability-identifier-naming) */
__attribute__((visibility("default"))) int
InitializeInjectionNvtxExtension(const struct nvtx_extension *extension)
{
	if (!enter_by_nvtx())
		return 0;
	tp_nvtx_attach_extension(extension);
	return 1;
}

/* Creates a ring for a reader that attaches. Returns 0 or an errno. A ring that `trainprof run`
 * created keeps its role, and a ring inherited from the parent of a fork cannot be used. */
static int join(void)
{
	if (agent.ring.header && !tp_ring_writer_is_ours(&agent.ring))
		return ECHILD;
	if (agent.ring.header && !agent.ring.is_nameless)
		return EBUSY;
	int failure = agent.ring.header
			      ? tp_ring_writer_reset(&agent.ring)
			      : tp_ring_writer_create(&agent.ring, NULL, TP_GPU_RING_EVENTS);
	if (failure)
		return failure;
	agent.may_leave = true;
	agent.was_entered[ENTRY_CUDA] = 1;
	tp_cupti_lifecycle_begin(&agent.collecting, &agent.ring);
	agent.collecting.is_late = true;
	agent.collecting.starts_idle = true;
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
		__atomic_store_n(&agent.has_thread, 0, __ATOMIC_RELEASE);
		return -failure;
	}
	agent.block = block;
	agent.block_bytes = bytes;
	agent.attach_tid = (pid_t)syscall(SYS_gettid);
	start_thread();
	return agent.ring.fd;
}
