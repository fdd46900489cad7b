/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program that is measured: started by us, left alone, and followed to its end; or one that
 * runs already and goes on when we leave (tp_target_attach, behind the rest).
 *
 * The child is held before its exec until collectors are attached, then runs with the signals,
 * limits and descriptors that we were started with, in our process group. Nothing here stops it.
 *
 * Signals that reach trainprof alone are passed on: INT QUIT TERM HUP USR1 USR2 CONT, and what else
 * would end us without being a fault of ours (ALRM VTALRM PROF XCPU IO PWR, real time). Those that
 * come from the terminal (SI_KERNEL) are not, because the whole group has them already. kill(1) to
 * the group cannot be told from kill(1) to us: the target then gets the signal twice, as under
 * timeout(1). They are read from a signalfd, so no handler runs and nothing is interrupted. When
 * the target is stopped by Ctrl-Z's kind of signals we stop too, so that the shell takes the
 * terminal back.
 */
#ifndef TRAINPROF_COLLECT_TARGET_H
#define TRAINPROF_COLLECT_TARGET_H

#include "trainprof/base/status.h"
#include "trainprof/model/run_info.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct tp_env;          /* trainprof/collect/env.h */
struct tp_host;         /* trainprof/collect/host_info.h */
struct tp_availability; /* trainprof/model/source.h */

/* What the target shall find as we found it. */
struct tp_inherited {
	sigset_t mask;
	uint64_t ignored; /* bit n - 1: signal n, the C library's own too */
	struct rlimit files;
};

/*
 * Call first thing in main(), before signals or limits are touched. Descriptors 0 to 2 that are
 * closed are opened on /dev/null for us alone (the target finds them closed), so that no file of
 * ours gets their numbers.
 */
void tp_inherited_save(struct tp_inherited *out);

struct tp_target;

/* How it ended. */
struct tp_target_end {
	enum tp_end_kind kind; /* TP_END_EXITED or TP_END_SIGNALED; TP_END_RUNNING before. Attached:
				* also TP_END_DETACHED, TP_END_UNKNOWN */
	int code;              /* exit status, or signal number */
	uint64_t time_ns;      /* CLOCK_MONOTONIC when it was seen */
	struct rusage usage;   /* of the target and the children it waited for */
};

/*
 * Become the program, as if trainprof had not been there: for one that is not measured and has to
 * run all the same. Returns only where that is not possible, with the shell's status for it.
 */
TP_MUST_CHECK int tp_target_run_alone(const struct tp_inherited *inheritance, char *const *argv,
				      struct tp_error *err);

/*
 * Fork the child and hold it. argv[0] is looked up in PATH; `env` (may be NULL) is added to our
 * environment. From now on the signals above are blocked in this thread.
 * Errors  TP_TARGET (no process, no descriptor).
 */
TP_MUST_CHECK enum tp_status tp_target_start(struct tp_target **out,
					     const struct tp_inherited *inheritance,
					     char *const *argv, const struct tp_env *env,
					     struct tp_error *err);

/* The signals above. */
void tp_target_signals(sigset_t *out);
/* Whether one of them that came to us (si_code) is to be passed on: nobody else got it. */
bool tp_target_should_forward(int signal, int code);

pid_t tp_target_pid(const struct tp_target *target);

/*
 * Let it exec, and wait until it has. Errors  TP_TARGET: the text says why, and
 * tp_target_exit_status() is 127 (not found) or 126 (found, cannot be run).
 */
TP_MUST_CHECK enum tp_status tp_target_release(struct tp_target *target, struct tp_error *err);

/* The status that a shell would show: of the end, of the failed exec, 128+n for a signal. */
int tp_target_exit_status(const struct tp_target *target);

/* Readable when tp_target_poll() has something to do. */
int tp_target_wait_fd(const struct tp_target *target);

enum {
	TP_TARGET_ENDED = 1,       /* a zombie now: its /proc is still there until it is reaped */
	TP_TARGET_INTERRUPTED = 2, /* SIGINT reached us, from wherever */
	TP_TARGET_DETACH = 4,      /* attached: a signal tells us to go */
	TP_TARGET_STOPPED = 8,     /* it was stopped by a signal, or continued */
};

/* Pass signals on, stop with it, reap adopted daemons. Never blocks. Returns TP_TARGET_… */
unsigned tp_target_poll(struct tp_target *target);

/* Collect the end; blocks while it runs, signals are passed on meanwhile. */
const struct tp_target_end *tp_target_reap(struct tp_target *target);

/*
 * Drops signals that came for a target that is gone; does not kill. The signals stay blocked: this
 * process ends soon, and one that came before would take the status of the target with it.
 */
void tp_target_close(struct tp_target *target);

/*
 * Instead of start: a process that runs already, and its children. It is not signalled, stopped or
 * traced, and nothing of it is inherited. From now on INT QUIT TERM HUP are blocked in this thread,
 * except those that were ignored; each means TP_TARGET_DETACH. release does nothing; reap does not
 * wait: the end is TP_END_DETACHED when it goes on.
 * Errors  TP_TARGET (no such process; a thread; one of the kernel; ourselves), TP_DENIED (another
 * user's); err->next says what to type.
 */
TP_MUST_CHECK enum tp_status tp_target_attach(struct tp_target **out, pid_t pid,
					      struct tp_error *err);
/* Whether its memory and its system calls can be read: DEGRADED or worse with reason and remedy. */
void tp_target_check_access(const struct tp_target *target, const struct tp_host *host,
			    struct tp_availability *out);
/* True when it was attached to. */
bool tp_target_is_attached(const struct tp_target *target);

/* End this process as the target ended: by the same signal, without a core file of ours, or with
 * the same status. Call last, with everything written. */
__attribute__((noreturn)) void tp_target_exit_like(const struct tp_target_end *end);

#endif
