/* SPDX-License-Identifier: Apache-2.0 */
/* Threads and processes, and their state at an instant. */
#ifndef TRAINPROF_MODEL_TASK_H
#define TRAINPROF_MODEL_TASK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TP_NO_TASK UINT32_MAX

/* A thread, from its creation (or from when it was first seen) to its end. Ids are dense and in
 * order of appearance; a reused tid gets a new id. The thread with tid == pid represents its
 * process. Times are CLOCK_MONOTONIC while recording and ns since the start of the run in a
 * trace. */
struct tp_task {
	uint32_t id;
	pid_t tid;
	pid_t pid;
	uint32_t parent; /* task that created it; TP_NO_TASK for the target itself */
	uint64_t start_ns;
	uint64_t end_ns;   /* 0 while alive */
	uint64_t exec_ns;  /* last exec; 0 if none was seen */
	uint32_t comm;     /* string ids */
	uint32_t exe;      /* path; process leaders only */
	uint32_t cmdline;  /* arguments joined by spaces; process leaders only */
	uint64_t utime_ns; /* CPU time by the kernel's accounting when last read, 0 if never read */
	uint64_t stime_ns; /* of the whole process on a leader, of the thread otherwise */
};

enum tp_state {
	TP_STATE_ON_CPU,
	TP_STATE_RUNNABLE, /* ready to run without a CPU: preempted, or woken and not running yet */
	TP_STATE_BLOCKED,
	TP_N_STATES
};

/* Why a thread is blocked. Names appear in reports. */
#define TP_CAUSE_MAP(X)                                                                            \
	X(NONE, "none")                                                                            \
	X(UNKNOWN, "unknown")                                                                      \
	X(FILE, "file")             /* read, write, fsync of a regular file */                     \
	X(DISK, "disk")             /* uninterruptible, in a block device or file system */        \
	X(PAGE_FAULT, "page_fault") /* uninterruptible outside any system call */                  \
	X(PIPE, "pipe")                                                                            \
	X(SOCKET, "socket")                                                                        \
	X(POLL, "poll")   /* poll, select, epoll over several descriptors */                       \
	X(FUTEX, "futex") /* mutex, condition, semaphore, join */                                  \
	X(SLEEP, "sleep")                                                                          \
	X(CHILD, "child")       /* waits for a child process */                                    \
	X(TERMINAL, "terminal") /* reads or writes a terminal */                                   \
	X(OTHER, "other")                                                                          \
	X(GIL, "gil") /* waits for the interpreter lock of Python */

enum tp_cause {
#define X(name, text) TP_CAUSE_##name,
	TP_CAUSE_MAP(X)
#undef X
		TP_N_CAUSES
};

const char *tp_cause_name(enum tp_cause cause);

#endif
