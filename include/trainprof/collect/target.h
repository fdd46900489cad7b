/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The measured program: started by us, left undisturbed, and followed to its end; or attached to
 * while it runs (tp_target_attach), in which case it continues when we leave.
 *
 * The child is held before its exec until collectors are attached. It then runs with the signals,
 * limits and descriptors that trainprof was started with, in our process group. Nothing here stops
 * it.
 *
 * Signals that reach only trainprof are forwarded: INT QUIT TERM HUP USR1 USR2 CONT, and all others
 * that would end us without being a fault of ours (ALRM VTALRM PROF XCPU IO PWR, real time).
 * Signals that the whole group receives are not: those of the terminal (SI_KERNEL), and those that
 * a child of ours in the group receives as well. One that the target sends to us alone is meant for
 * its parent, and goes to ours. Signals are read from a signalfd, so no handler runs and
 * nothing is interrupted. When the target is stopped by a signal like that of Ctrl-Z, we stop too,
 * so that the shell regains the terminal.
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

/* The state that the target must inherit unchanged. */
struct tp_inherited {
	sigset_t mask;
	uint64_t ignored; /* bit n - 1: signal n, including the C library's own */
	struct rlimit files;
};

/* Call it first in main(), before signals or limits change. Closed descriptors 0 to 2 are opened
 * on /dev/null for us only (the target finds them closed), so that no file of ours gets their
 * numbers; standard output for reading, so that writing fails. */
void tp_inherited_save(struct tp_inherited *out);

struct tp_target;

/* The end of the target. */
struct tp_target_end {
	enum tp_end_kind kind; /* TP_END_EXITED or TP_END_SIGNALED; TP_END_RUNNING before. Attached:
				  also TP_END_DETACHED, TP_END_UNKNOWN */
	int code;              /* exit status, or signal number */
	uint64_t time_ns; /* CLOCK_MONOTONIC when tp_target_poll() first noticed it, not when it was
			     reaped */
	struct rusage usage; /* of the target and the children it waited for */
};

/* Replaces this process by the program, as if trainprof were not there: for a program that is not
 * measured but must run. Returns only if that fails, with the shell's status for it. */
TP_MUST_CHECK int tp_target_run_alone(const struct tp_inherited *inheritance, char *const *argv,
				      struct tp_error *err);

/* Forks the child and holds it. argv[0] is searched in PATH; `env` (may be NULL) is added to our
 * environment. From now on the signals above are blocked in this thread. Errors  TP_TARGET (no
 * process, no descriptor). */
TP_MUST_CHECK enum tp_status tp_target_start(struct tp_target **out,
					     const struct tp_inherited *inheritance,
					     char *const *argv, const struct tp_env *env,
					     struct tp_error *err);

/* The signals above. */
void tp_target_signals(sigset_t *out);
/* True if one of them that reached us (si_code) must be forwarded because no other process received
 * it. */
bool tp_target_should_forward(int signal, int code);

pid_t tp_target_pid(const struct tp_target *target);

/* Lets it exec, and waits until it has. Errors  TP_TARGET: the text says why, and
 * tp_target_exit_status() is 127 (not found) or 126 (found, cannot be run). */
TP_MUST_CHECK enum tp_status tp_target_release(struct tp_target *target, struct tp_error *err);

/* The status that a shell would show: the exit status, that of a failed exec, or 128+n for a
 * signal. */
int tp_target_exit_status(const struct tp_target *target);

/* Readable when tp_target_poll() has something to do. */
int tp_target_wait_fd(const struct tp_target *target);

enum {
	TP_TARGET_ENDED = 1,       /* a zombie now: its /proc entry exists until it is reaped */
	TP_TARGET_INTERRUPTED = 2, /* SIGINT reached us, from any sender */
	TP_TARGET_DETACH = 4,      /* attached: a signal requests us to leave */
	TP_TARGET_STOPPED = 8,     /* it was stopped by a signal, or continued */
};

/* Forwards signals, stops together with the target, reaps adopted daemons. Blocks for 10 to 30 ms
 * if there are signals to forward. Returns TP_TARGET_… */
unsigned tp_target_poll(struct tp_target *target);

/* Collects the end; blocks while it runs, still forwarding signals. */
const struct tp_target_end *tp_target_reap(struct tp_target *target);

/* Drops signals for a target that is gone; does not kill. The signals stay blocked: this process
 * ends soon, and a signal before that would replace the target's exit status. */
void tp_target_close(struct tp_target *target);

/*
 * Used instead of start for a process that runs already, and its children. It is not signalled,
 * stopped or traced, and inherits nothing. From now on INT QUIT TERM HUP are blocked in this
 * thread, except those that were ignored; each means TP_TARGET_DETACH. release does nothing; reap
 * does not wait: the end is TP_END_DETACHED if the process continues. Errors  TP_TARGET (no such
 * process; a thread; a kernel thread; ourselves), TP_DENIED (another user's); err->next says what
 * to type.
 */
TP_MUST_CHECK enum tp_status tp_target_attach(struct tp_target **out, pid_t pid,
					      struct tp_error *err);
/* False, with the reason, if this kernel lacks what tp_target_attach() needs. */
bool tp_target_can_attach(char *reason, size_t size);
/* Checks whether its memory and system calls can be read: DEGRADED or worse, with reason and
 * remedy. */
void tp_target_check_access(const struct tp_target *target, const struct tp_host *host,
			    struct tp_availability *out);
/* True if it was attached to. */
bool tp_target_is_attached(const struct tp_target *target);

/* Ends this process as the target ended: by the same signal, without a core file, or with the same
 * status. Call it last, when everything is written. */
__attribute__((noreturn)) void tp_target_exit_like(const struct tp_target_end *end);

#endif
