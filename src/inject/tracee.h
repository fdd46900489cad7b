/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread of another process, under ptrace. The tracer is the calling thread, which must have
 * all signals blocked: waiting takes SIGCHLD. When it ends the kernel lets go of what it holds, and
 * everything goes on as its registers say.
 */
#ifndef TRAINPROF_SRC_INJECT_TRACEE_H
#define TRAINPROF_SRC_INJECT_TRACEE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum tp_stop {
	TP_STOP_INTERRUPTED, /* where it was, as asked: signals and restarts are dealt with after it
			      */
	TP_STOP_CALL,        /* before or behind a system call */
	TP_STOP_EXITED,      /* it has ended */
	TP_STOP_TIMEOUT,     /* it has not stopped in time, and runs */
};

/* Take hold of a thread without stopping it. 0 or an errno. */
int tp_tracee_seize(pid_t tid);

/* Have it stop. It runs on until tp_tracee_wait(). */
bool tp_tracee_interrupt(pid_t tid);
/* Let it run, to the next system call if `to_call`. */
bool tp_tracee_resume(pid_t tid, bool to_call);

/*
 * Stopped in a system call that returns EINTR for whatever interrupts it: have the kernel make it
 * again, unless a handler of the program's is to run. Whoever has asked for a stop has to see it
 * and to do this, or the program sees an EINTR without a signal.
 */
void tp_tracee_restart_call(pid_t tid);

/* Wait for a stop of the two kinds. Signals that come meanwhile it gets, as if nobody were here. */
enum tp_stop tp_tracee_wait(pid_t tid, bool to_call, uint64_t until_ns);

/* While it runs and no stop of it is asked for: let it have the signals that have come, without
 * waiting. False: it has ended. */
bool tp_tracee_pass_signals(pid_t tid);

/* Let it run to where it stops as asked, without an instruction of its own if it is behind or
 * before a system call now. */
enum tp_stop tp_tracee_stop(pid_t tid, uint64_t until_ns);

/* The signals that it blocks, and those that it shall. */
bool tp_tracee_mask(pid_t tid, uint64_t *out);
bool tp_tracee_set_mask(pid_t tid, uint64_t mask);

/* Number of the system call that it is before, -1 when it is not. */
long tp_tracee_call(pid_t tid);

/* Let go; it must be stopped. */
bool tp_tracee_release(pid_t tid);

#endif
