/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of a process that may be held: those that wait in a system call in which no thread has a
 * lock of the C library's, as far as /proc/PID/task tells without stopping anything.
 *
 * The better ones wait in a call that the kernel makes again whoever interrupts it, and are not
 * those to which the kernel sends signals of the whole process: a held thread blocks all of them,
 * and one that would be thrown away as ignored is then given to another thread instead, where it
 * ends calls with EINTR that no stop of ours would have ended. So neither the first thread (kill(),
 * terminals) nor one that has children (SIGCHLD) is among them. Nor is one that sleeps, because an
 * allocator may sleep where it waits for a lock.
 */
#ifndef TRAINPROF_SRC_INJECT_THREAD_SELECT_H
#define TRAINPROF_SRC_INJECT_THREAD_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { TP_THREAD_SELECT_MAX = 64 };

struct tp_thread_select {
	pid_t better[TP_THREAD_SELECT_MAX]; /* in such a call */
	size_t n_better;
	pid_t others[TP_THREAD_SELECT_MAX]; /* in such a call too */
	size_t n_others;
	pid_t running[TP_THREAD_SELECT_MAX]; /* on a CPU, or about to be */
	size_t n_running;
	bool is_denied; /* the kernel does not tell us */
};

void tp_thread_select_find(struct tp_thread_select *out, pid_t pid);

/* Does it still wait so? */
bool tp_thread_select_is_waiting(pid_t pid, pid_t tid);

/* May a thread be interrupted that waits in that call? `operation` is its second argument. */
bool tp_thread_select_is_wait(long number, uint64_t operation);
/* Is it the better for it? */
bool tp_thread_select_is_better(long number);
/* May a thread be held that is about to make that call? */
bool tp_thread_select_is_safe(long number);

#endif
