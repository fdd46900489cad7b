/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses threads of a process that may be held: threads that wait in a system call in which no
 * thread holds a lock of the C library, as far as /proc/PID/task shows without stopping anything.
 *
 * The better candidates wait in a call that the kernel restarts after any interruption, and do not
 * receive signals that are sent to the whole process. A held thread blocks all signals; a signal
 * that would be discarded as ignored is then given to another thread, where it interrupts calls
 * with an EINTR that no stop of ours would have caused. The first thread (kill(), terminals) and
 * threads with children (SIGCHLD) are therefore excluded. So is a sleeping thread, because an
 * allocator may sleep while it waits for a lock.
 */
#ifndef TRAINPROF_SRC_INJECT_THREAD_SELECT_H
#define TRAINPROF_SRC_INJECT_THREAD_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { TP_THREAD_SELECT_MAX = 64 };

struct tp_thread_select {
	pid_t better[TP_THREAD_SELECT_MAX]; /* wait in such a call */
	size_t n_better;
	pid_t others[TP_THREAD_SELECT_MAX]; /* wait in a safe call, but receive signals */
	size_t n_others;
	pid_t running[TP_THREAD_SELECT_MAX]; /* on a CPU, or about to be */
	size_t n_running;
	bool is_denied; /* the kernel does not show system calls */
};

void tp_thread_select_find(struct tp_thread_select *out, pid_t pid);

/* True if the thread still waits in such a call. */
bool tp_thread_select_is_waiting(pid_t pid, pid_t tid);

/* True if a thread that waits in this call may be interrupted. `operation` is its second
 * argument. */
bool tp_thread_select_is_wait(long number, uint64_t operation);
/* True if the call makes the thread a better candidate. */
bool tp_thread_select_is_better(long number);
/* True if a thread that is about to make this call may be held. */
bool tp_thread_select_is_safe(long number);

#endif
