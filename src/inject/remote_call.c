/* SPDX-License-Identifier: Apache-2.0 */
/* The helper that holds a thread. */
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
	STACK_SCAN_BYTES = 64 << 10, /* of a stack, for frames of handlers */
	POLL_NS = 30000,             /* between two looks at what the thread has done */
	NICE = -20,                  /* while it holds a thread, if that is allowed */
};

/* For it to stop, from where it waits: whatever that takes, because a call that has been ended by
 * it has to be mended. Such a thread waits for nothing but a CPU. */
#define STOP_NS (60 * TP_NS_PER_S)
#define SLOW_NS (3 * TP_NS_PER_MS)   /* a step that took so long: CPUs are wanted by others */
#define CALL_NS (300 * TP_NS_PER_MS) /* for it to make a system call, running */
#define CODE_NS (10 * TP_NS_PER_S)   /* for it to run the code of the block; then it is let go */
/* For a system call that is ours to return: nothing else can be done meanwhile. A thread that has
 * to wait for a CPU waits for it without us as well. */
#define MAP_NS (60 * TP_NS_PER_S)

struct hold {
	const struct tp_remote_call *borrow;
	struct tp_registers at;   /* where it is stopped */
	struct tp_registers back; /* with which it goes back */
	uint64_t mask;
	uint64_t since_ns;
	struct tp_remote_call_result result;
};

static void give_up(struct hold *hold, enum tp_remote_call_outcome outcome, int error)
{
	hold->result.outcome = outcome;
	hold->result.error = error;
}

/* ---- is it a good moment? ------------------------------------------------------------------- */

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

/*
 * What a held thread blocks, first for mmap(), where a handler's system calls would be taken for
 * ours, then in the code of the block: SIGSETXID is open there, for who calls setuid() holds the
 * lock that pthread_create() wants until each thread has answered. Who blocks either is in the code
 * of a block.
 */
#define ALL_BLOCKED  (~(UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1)))
#define HELD_BLOCKED (ALL_BLOCKED & ~(UINT64_C(1) << 32))

static bool is_good(const struct hold *hold)
{
	uint64_t pc = tp_machine_pc(&hold->at);
	bool is_loading = pc >= hold->borrow->loader_start && pc < hold->borrow->loader_end;
	return !is_loading && hold->mask != ALL_BLOCKED && hold->mask != HELD_BLOCKED &&
	       tp_machine_is_fit(hold->borrow->tid, &hold->at) && !is_handling_signal(hold);
}

/* ---- to a stop ------------------------------------------------------------------------------ */

/* It runs: on to a system call that may be put off. */
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

/* From the cancelling on it has to come back to us, or it would hear of it. */
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

/* Stopped where it is, it waits in a system call. */
static bool is_safe_wait(struct hold *hold)
{
	long number = tp_machine_interrupted(hold->borrow->tid, &hold->at, &hold->back);
	uint64_t operation = tp_machine_argument(&hold->at, 1);
	return number >= 0 && tp_thread_select_is_wait(number, operation) && is_good(hold);
}

/* Better let go, and try another moment? */
static bool is_slow(const struct hold *hold, uint64_t since_ns)
{
	return hold->borrow->is_patient && tp_clock_now_ns() - since_ns > SLOW_NS;
}

/* True: stopped as asked, `back` is known, and nothing is changed yet. */
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

/* ---- what it is made to do ------------------------------------------------------------------ */

/* Stopped as asked, and so again when it returns. */
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

/* It says so in its memory, since each stop on the way would cost as much as all of the code. */
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

/* We may have come too late, and it has gone back: then its registers are its own. */
static bool is_in_block(const struct hold *hold, const struct tp_registers *registers)
{
	uint64_t pc = tp_machine_pc(registers);
	return pc >= hold->result.block && pc < hold->result.block + TP_PAYLOAD_AT;
}

/* In the block's code, on to where it rests. False: it goes on alone. */
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

/* Everything as it was found; it is stopped as asked, so that the kernel looks at restarts. */
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
		tp_tracee_restart_call(tid); /* our end lets go of it, stopped or not */
	if (hold->since_ns)
		hold->result.stopped_ns = tp_clock_now_ns() - hold->since_ns;
}

/* ---- the helper ----------------------------------------------------------------------------- */

static void be_helper(int end, const struct tp_remote_call *borrow)
{
	static struct hold hold;
	sigset_t all;
	hold.borrow = borrow;
	signal(SIGCHLD, SIG_DFL); /* ignored, it would not tell of stops */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL); /* NOLINT(concurrency-mt-unsafe): one thread */
	setpriority(PRIO_PROCESS, 0, NICE);
	setsid(); /* what is sent to trainprof's group is not for it */
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
