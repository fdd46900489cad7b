/* SPDX-License-Identifier: Apache-2.0 */
/* One thread of another process under ptrace. The tracer is the calling thread, which must have all
 * signals blocked, because waiting consumes SIGCHLD. When the tracer ends, the kernel releases the
 * threads that it holds, and they continue with the registers that they have. */
#ifndef TRAINPROF_SRC_INJECT_TRACEE_H
#define TRAINPROF_SRC_INJECT_TRACEE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum tp_stop {
	TP_STOP_INTERRUPTED, /* stopped where it was, as requested: signals and restarts are handled
				after it */
	TP_STOP_CALL,        /* before or after a system call */
	TP_STOP_EXITED,      /* it has ended */
	TP_STOP_TIMEOUT,     /* it did not stop in time, and runs */
};

/* Attaches to a thread without stopping it. Returns 0 or an errno. */
int tp_tracee_seize(pid_t tid);

/* Requests a stop. The thread continues until tp_tracee_wait(). */
bool tp_tracee_interrupt(pid_t tid);
/* Resumes it, up to the next system call if `to_call`. */
bool tp_tracee_resume(pid_t tid, bool to_call);

/* For a thread that is stopped in a system call that returns EINTR after any interruption: makes
 * the kernel repeat the call, unless a handler of the program is due. After every requested stop
 * this must be called, or the program sees an EINTR without a signal. */
void tp_tracee_restart_call(pid_t tid);

/* Waits for a stop of one of the two kinds. Signals that arrive meanwhile are delivered as without
 * us. */
enum tp_stop tp_tracee_wait(pid_t tid, bool to_call, uint64_t until_ns);

/* While the thread runs and no stop is requested: delivers the signals that have arrived, without
 * waiting. Returns false if it has ended. */
bool tp_tracee_pass_signals(pid_t tid);

/* Runs the thread to the requested stop, without executing an instruction of its own if it is
 * before or after a system call now. */
enum tp_stop tp_tracee_stop(pid_t tid, uint64_t until_ns);

/* Get and set the signals that the thread blocks. */
bool tp_tracee_mask(pid_t tid, uint64_t *out);
bool tp_tracee_set_mask(pid_t tid, uint64_t mask);

/* Returns the number of the system call before which it is stopped, -1 if there is none. */
long tp_tracee_call(pid_t tid);

/* Releases the thread; it must be stopped. */
bool tp_tracee_release(pid_t tid);

#endif
