/* SPDX-License-Identifier: Apache-2.0 */
/* Stops, resumes and waits for a thread. */
#include "tracee.h"

#include "machine.h"

#include "trainprof/base/clock.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

enum { EVENT_SHIFT = 16, CALL_FLAG = 0x80 };

int tp_tracee_seize(pid_t tid)
{
	/* Without EXITKILL: our end must not be the program's. */
	return ptrace(PTRACE_SEIZE, tid, NULL, (void *)PTRACE_O_TRACESYSGOOD) == 0 ? 0 : errno;
}

bool tp_tracee_interrupt(pid_t tid)
{
	return ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) == 0;
}

static bool resume(pid_t tid, bool to_call, int signal)
{
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): how ptrace takes a number */
	void *with = (void *)(intptr_t)signal;
	return ptrace(to_call ? PTRACE_SYSCALL : PTRACE_CONT, tid, NULL, with) == 0;
}

bool tp_tracee_resume(pid_t tid, bool to_call)
{
	return resume(tid, to_call, 0);
}

void tp_tracee_restart_call(pid_t tid)
{
	struct tp_registers now;
	struct tp_registers mended;
	if (tp_machine_get(tid, &now) && tp_machine_interrupted(tid, &now, &mended) >= 0)
		tp_machine_set(tid, &mended);
}

/* Returns false on timeout. */
static bool wait_for_change(pid_t tid, int *status, uint64_t until_ns)
{
	sigset_t child;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (;;) {
		pid_t got = waitpid(tid, status, __WALL | WNOHANG);
		if (got == tid)
			return true;
		if (got < 0) {
			*status = 0; /* as if the thread had ended */
			return true;
		}
		uint64_t now_ns = tp_clock_now_ns();
		if (now_ns >= until_ns)
			return false;
		uint64_t left_ns = until_ns - now_ns;
		const struct timespec most = {.tv_sec = (time_t)(left_ns / TP_NS_PER_S),
					      .tv_nsec = (long)(left_ns % TP_NS_PER_S)};
		sigtimedwait(&child, NULL, &most);
	}
}

/* Handles a stop that we did not request: a signal of the program, perhaps an ignored one that is
 * only reported because we trace; or a group stop, which the kernel applies when we release the
 * thread. */
static bool pass_on(pid_t tid, bool to_call, int status)
{
	tp_tracee_restart_call(tid);
	return resume(tid, to_call, status >> EVENT_SHIFT ? 0 : WSTOPSIG(status));
}

enum tp_stop tp_tracee_wait(pid_t tid, bool to_call, uint64_t until_ns)
{
	for (;;) {
		int status;
		if (!wait_for_change(tid, &status, until_ns))
			return TP_STOP_TIMEOUT;
		if (!WIFSTOPPED(status))
			return TP_STOP_EXITED;
		/* If the whole process is being stopped at this moment, both stops are reported as
		 * one. */
		if (status >> EVENT_SHIFT == PTRACE_EVENT_STOP && !to_call)
			return TP_STOP_INTERRUPTED;
		if (WSTOPSIG(status) == (SIGTRAP | CALL_FLAG))
			return TP_STOP_CALL;
		if (!pass_on(tid, to_call, status))
			return TP_STOP_EXITED;
	}
}

bool tp_tracee_pass_signals(pid_t tid)
{
	int status;
	while (wait_for_change(tid, &status, 0))
		if (!WIFSTOPPED(status) || !pass_on(tid, false, status))
			return false;
	return true;
}

enum tp_stop tp_tracee_stop(pid_t tid, uint64_t until_ns)
{
	if (!tp_tracee_interrupt(tid) || !resume(tid, false, 0))
		return TP_STOP_EXITED;
	return tp_tracee_wait(tid, false, until_ns);
}

bool tp_tracee_mask(pid_t tid, uint64_t *out)
{
	return ptrace(PTRACE_GETSIGMASK, tid, sizeof(*out), out) == 0;
}

bool tp_tracee_set_mask(pid_t tid, uint64_t mask)
{
	return ptrace(PTRACE_SETSIGMASK, tid, sizeof(mask), &mask) == 0;
}

long tp_tracee_call(pid_t tid)
{
	struct __ptrace_syscall_info info;
	long got = ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info);
	return got > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY ? (long)info.entry.nr : -1;
}

bool tp_tracee_release(pid_t tid)
{
	return ptrace(PTRACE_DETACH, tid, NULL, NULL) == 0;
}
