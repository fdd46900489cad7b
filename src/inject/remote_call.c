/* SPDX-License-Identifier: Apache-2.0 */
/* The helper process that holds a thread. */
#include "remote_call.h"

#include "machine.h"
#include "thread_select.h"
#include "tracee.h"
#include "tracee_memory.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/process_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	STACK_SCAN_BYTES = 64 << 10, /* bytes of a stack that are searched for frames of handlers */
	POLL_NS = 30000,             /* interval of checking the thread's progress */
	NICE = -20,                  /* priority while it holds a thread, if permitted */
};

/* Time limit for the thread to stop where it waits. It is generous, because a call that the stop
 * has interrupted must be repaired. Such a thread waits only for a CPU. */
#define STOP_NS (60 * TP_NS_PER_S)
#define SLOW_NS (3 * TP_NS_PER_MS)   /* a longer step means that other programs want the CPUs */
#define CALL_NS (300 * TP_NS_PER_MS) /* time limit for a running thread to make a system call */
#define CODE_NS (10 * TP_NS_PER_S)   /* time limit for the block's code; then it is released */
/* Time limit for the return of a system call of ours; nothing else can be done meanwhile. A thread
 * that waits for a CPU would wait for it without us as well. */
#define MAP_NS (60 * TP_NS_PER_S)

struct hold {
	const struct tp_remote_call *borrow;
	struct tp_registers at;   /* registers where it is stopped */
	struct tp_registers back; /* registers with which it returns */
	uint64_t mask;
	uint64_t since_ns;
	struct tp_remote_call_result result;
};

static void give_up(struct hold *hold, enum tp_remote_call_outcome outcome, int error)
{
	hold->result.outcome = outcome;
	hold->result.error = error;
}

/* ---- is this a safe moment? ----------------------------------------------------------------- */

/* A handler that waits may have interrupted malloc(). */
static bool is_handling_signal(const struct hold *hold)
{
	static uint64_t stack[STACK_SCAN_BYTES / 8];
	const struct tp_remote_call *borrow = hold->borrow;
	uint64_t from = tp_machine_sp(&hold->at);
	if (!borrow->signal_return)
		return false;
	size_t n = tp_process_memory_read_some(borrow->pid, from, stack, sizeof(stack)) / 8;
	for (size_t i = 0; i < n; i++)
		if (stack[i] == borrow->signal_return &&
		    tp_machine_is_handling(borrow->pid, from + i * 8, hold->mask))
			return true;
	return false;
}

/* Signals that a held thread blocks: all during mmap(), when a handler's system calls would be
 * mistaken for ours, and all but SIGSETXID in the code of the block, because a caller of setuid()
 * holds the lock that pthread_create() needs until each thread has answered. A thread with one of
 * these masks is therefore in the code of a block. */
#define ALL_BLOCKED  (~(UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1)))
#define HELD_BLOCKED (ALL_BLOCKED & ~(UINT64_C(1) << 32))

static bool is_good(const struct hold *hold)
{
	uint64_t pc = tp_machine_pc(&hold->at);
	bool is_loading = pc >= hold->borrow->loader_start && pc < hold->borrow->loader_end;
	return !is_loading && hold->mask != ALL_BLOCKED && hold->mask != HELD_BLOCKED &&
	       tp_machine_is_fit(hold->borrow->tid, &hold->at) && !is_handling_signal(hold);
}

/* ---- stop the thread ------------------------------------------------------------------------ */

/* Follows a running thread to its next system call, which may be delayed. */
static bool follow_to_call(struct hold *hold)
{
	pid_t tid = hold->borrow->tid;
	uint64_t until_ns = tp_clock_now_ns() + CALL_NS;
	long number = -1;
	while (!tp_thread_select_is_safe(number)) {
		if (!tp_tracee_resume(tid, true) ||
		    tp_tracee_wait(tid, true, until_ns) != TP_STOP_CALL)
			return false;
		hold->since_ns = tp_clock_now_ns();
		number = tp_tracee_call(tid);
	}
	return tp_machine_get(tid, &hold->at) && tp_tracee_mask(tid, &hold->mask) &&
	       is_good(hold) && tp_machine_cancel(tid, &hold->at);
}

/* After the cancellation the thread must come back to us, or the program would notice. */
static bool run_after_call(struct hold *hold)
{
	pid_t tid = hold->borrow->tid;
	struct tp_registers before = hold->at;
	if (tp_tracee_stop(tid, tp_clock_now_ns() + MAP_NS) != TP_STOP_INTERRUPTED ||
	    !tp_machine_get(tid, &hold->at))
		return false;
	tp_machine_cancelled(&before, &hold->at, &hold->back);
	return true;
}

/* True if the thread is stopped while it waits in a safe system call. */
static bool is_safe_wait(struct hold *hold)
{
	long number = tp_machine_interrupted(hold->borrow->tid, &hold->at, &hold->back);
	uint64_t operation = tp_machine_argument(&hold->at, 1);
	return number >= 0 && tp_thread_select_is_wait(number, operation) && is_good(hold);
}

/* True if it is better to release the thread and to try again at another moment. */
static bool is_slow(const struct hold *hold, uint64_t since_ns)
{
	return hold->borrow->is_patient && tp_clock_now_ns() - since_ns > SLOW_NS;
}

/* Returns true if the thread has stopped as requested and `back` is known; nothing has changed
 * yet. */
static bool stop_thread(struct hold *hold)
{
	const struct tp_remote_call *borrow = hold->borrow;
	pid_t tid = borrow->tid;
	if (!borrow->may_run && !tp_thread_select_is_waiting(borrow->pid, tid))
		return false;
	uint64_t asked_ns = tp_clock_now_ns();
	if (!tp_tracee_interrupt(tid) ||
	    tp_tracee_wait(tid, false, asked_ns + STOP_NS) != TP_STOP_INTERRUPTED)
		return false;
	hold->since_ns = tp_clock_now_ns();
	if (is_slow(hold, asked_ns) || !tp_machine_get(tid, &hold->at) ||
	    !tp_tracee_mask(tid, &hold->mask))
		return false;
	if (is_safe_wait(hold))
		return true;
	bool is_waiting = tp_machine_interrupted(tid, &hold->at, &hold->back) >= 0;
	if (!borrow->may_run || is_waiting)
		return false;
	return follow_to_call(hold) && run_after_call(hold);
}

/* ---- run code in the thread ----------------------------------------------------------------- */

/* The thread must be stopped as requested; it is stopped again when this returns. */
static bool make_block(struct hold *hold)
{
	pid_t tid = hold->borrow->tid;
	struct tp_registers now = hold->at;
	const uint64_t arguments[6] = {0,
				       TP_PAYLOAD_BYTES,
				       PROT_READ | PROT_WRITE | PROT_EXEC,
				       MAP_PRIVATE | MAP_ANONYMOUS,
				       UINT64_MAX,
				       0};
	uint64_t until_ns = tp_clock_now_ns() + MAP_NS;
	hold->result.block = hold->borrow->made;
	if (hold->result.block)
		return true;
	tp_machine_set_call(&now, &hold->back, SYS_mmap, arguments);
	if (!tp_machine_set(tid, &now) || !tp_tracee_resume(tid, true) ||
	    tp_tracee_wait(tid, true, until_ns) != TP_STOP_CALL ||
	    tp_tracee_stop(tid, until_ns) != TP_STOP_INTERRUPTED || !tp_machine_get(tid, &now)) {
		give_up(hold, TP_REMOTE_CALL_FAILED, ETIMEDOUT);
		return false;
	}
	long result = tp_machine_result(&now);
	if (result < 0 && result > -4096) {
		give_up(hold, TP_REMOTE_CALL_FAILED, (int)-result);
		return false;
	}
	hold->result.block = (uint64_t)result;
	return !is_slow(hold, hold->since_ns);
}

static bool fill_block(struct hold *hold)
{
	const struct tp_remote_call *borrow = hold->borrow;
	struct tp_payload block = borrow->block;
	size_t size;
	const void *code = tp_machine_code(&size);
	tp_machine_keep(block.registers, &hold->back);
	block.mask = hold->mask;
	bool is_done = tp_tracee_memory_write(borrow->pid, hold->result.block, code, size) &&
		       tp_tracee_memory_write(borrow->pid, hold->result.block + TP_PAYLOAD_AT,
					      &block, sizeof(block));
	if (!is_done)
		give_up(hold, TP_REMOTE_CALL_FAILED, errno);
	return is_done;
}

/* The thread records its progress in memory, because each extra stop would cost as much as all of
 * the code. */
static bool is_paused(const struct hold *hold, uint64_t until_ns)
{
	const struct timespec nap = {.tv_nsec = POLL_NS};
	uint64_t at = hold->result.block + TP_PAYLOAD_AT + TP_PAYLOAD_CREATED;
	int32_t created;
	while (tp_tracee_pass_signals(hold->borrow->tid) &&
	       tp_process_memory_read(hold->borrow->pid, at, &created, sizeof(created))) {
		if (created != TP_PAYLOAD_NOT_CREATED)
			return true;
		if (tp_clock_now_ns() >= until_ns)
			return false;
		nanosleep(&nap, NULL);
	}
	return false;
}

/* If we come too late, the thread has returned and its registers are its own. */
static bool is_in_block(const struct hold *hold, const struct tp_registers *registers)
{
	uint64_t pc = tp_machine_pc(registers);
	return pc >= hold->result.block && pc < hold->result.block + TP_PAYLOAD_AT;
}

/* Runs the block's code up to the pause. Returns false if the thread continues on its own. */
static bool run_block(struct hold *hold)
{
	pid_t tid = hold->borrow->tid;
	struct tp_registers now = hold->at;
	uint64_t until_ns = tp_clock_now_ns() + CODE_NS;
	tp_machine_enter(&now, hold->result.block);
	if (!tp_machine_set(tid, &now) || !tp_tracee_set_mask(tid, HELD_BLOCKED)) {
		give_up(hold, TP_REMOTE_CALL_FAILED, errno);
		return true;
	}
	give_up(hold, TP_REMOTE_CALL_DETACHED, 0);
	if (!tp_tracee_resume(tid, false) || !is_paused(hold, until_ns) ||
	    !tp_tracee_interrupt(tid) ||
	    tp_tracee_wait(tid, false, tp_clock_now_ns() + STOP_NS) != TP_STOP_INTERRUPTED ||
	    !tp_machine_get(tid, &now) || !is_in_block(hold, &now))
		return false;
	give_up(hold, TP_REMOTE_CALL_DONE, 0);
	return true;
}

/* Restores everything; the thread is stopped as requested, so that the kernel handles restarts. */
static void go_back(const struct hold *hold)
{
	pid_t tid = hold->borrow->tid;
	if (tp_machine_set(tid, &hold->back) && tp_tracee_set_mask(tid, hold->mask))
		tp_tracee_release(tid);
}

static void use(struct hold *hold)
{
	pid_t tid = hold->borrow->tid;
	if (!tp_tracee_set_mask(tid, ALL_BLOCKED)) {
		give_up(hold, TP_REMOTE_CALL_FAILED, errno);
		tp_tracee_release(tid);
		return;
	}
	bool is_back = true;
	if (make_block(hold) && fill_block(hold))
		is_back = run_block(hold);
	if (is_back)
		go_back(hold);
	else
		tp_tracee_restart_call(tid);
}

static void run_helper(struct hold *hold)
{
	pid_t tid = hold->borrow->tid;
	int failure = tp_tracee_seize(tid);
	if (failure) {
		bool is_denied = failure == EPERM || failure == EACCES;
		give_up(hold, is_denied ? TP_REMOTE_CALL_DENIED : TP_REMOTE_CALL_UNSAFE, failure);
		return;
	}
	give_up(hold, TP_REMOTE_CALL_UNSAFE, 0);
	if (stop_thread(hold))
		use(hold);
	else
		tp_tracee_restart_call(tid); /* our exit releases the thread, stopped or not */
	if (hold->since_ns)
		hold->result.stopped_ns = tp_clock_now_ns() - hold->since_ns;
}

/* ---- the helper process --------------------------------------------------------------------- */

static void be_helper(int end, const struct tp_remote_call *borrow)
{
	static struct hold hold;
	sigset_t all;
	hold.borrow = borrow;
	signal(SIGCHLD, SIG_DFL); /* if SIGCHLD were ignored, stops would not be reported */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL); /* NOLINT(concurrency-mt-unsafe): one thread */
	setpriority(PRIO_PROCESS, 0, NICE);
	setsid(); /* signals sent to trainprof's process group must not reach the helper */
	run_helper(&hold);
	ssize_t done = write(end, &hold.result, sizeof(hold.result));
	_exit(done == (ssize_t)sizeof(hold.result) ? 0 : 1);
}

void tp_remote_call_run(struct tp_remote_call_result *out, const struct tp_remote_call *borrow)
{
	int ends[2];
	*out = (struct tp_remote_call_result){.outcome = TP_REMOTE_CALL_BROKEN};
	if (pipe2(ends, O_CLOEXEC) != 0) {
		out->error = errno;
		return;
	}
	pid_t helper = fork();
	if (helper == 0)
		be_helper(ends[1], borrow);
	close(ends[1]);
	ssize_t got = 0;
	do
		got = helper > 0 ? read(ends[0], out, sizeof(*out)) : 0;
	while (got < 0 && errno == EINTR);
	if (got != (ssize_t)sizeof(*out))
		*out = (struct tp_remote_call_result){.outcome = TP_REMOTE_CALL_BROKEN};
	close(ends[0]);
	while (helper > 0 && waitpid(helper, NULL, 0) < 0 && errno == EINTR)
		continue;
}
