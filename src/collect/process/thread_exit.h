/* SPDX-License-Identifier: Apache-2.0 */
/* Threads on their way out of the kernel. The last thread of a program is taken off the list of
 * threads first, which makes the process a zombie, and then drops its files in /proc. Reaping the
 * process meanwhile waits for that in a loop (d_invalidate() in fs/dcache.c), for as long as the
 * thread waits for a CPU: 10 ms of CPU time in the mean beside one other job, seconds at idle
 * priority. */
#ifndef TRAINPROF_SRC_COLLECT_PROCESS_THREAD_EXIT_H
#define TRAINPROF_SRC_COLLECT_PROCESS_THREAD_EXIT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Sleeps while the number of one of the threads is still in use although there is no such thread,
 * at most this long. */
void tp_thread_exit_wait(const pid_t *tids, size_t n, uint64_t within_ns);

#endif
