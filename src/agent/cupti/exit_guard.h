/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coordinates the end of the program with the agent's thread. exit() runs CUPTI's exit handlers,
 * which destroy the state that CUPTI works with. If the agent's thread is inside CUPTI at that
 * moment, the program dies of SIGSEGV. A handler of our own does not prevent that: handlers run in
 * reverse order of registration, and CUPTI registers some in the middle of its start, after ours.
 *
 * Handlers that CUPTI registers after it was loaded are therefore intercepted (libcupti's import
 * slot of __cxa_atexit is replaced) and registered with a wrapper of ours. The first wrapper that
 * runs waits until the agent's thread has stopped, for at most 1.8 seconds. If the thread has not
 * stopped by then, it is inside a CUPTI that starts slowly or hangs, and CUPTI's handlers are
 * skipped: they would destroy state that is in use, and the process ends anyway.
 *
 * Handlers that CUPTI's constructors register come before the slot is replaced. A handler of ours
 * is registered after them and so runs, and waits, before them; but they are not skipped. See
 * tp_exit_guard_confirm() for an exit() during the load itself.
 *
 * One per process. A forked child waits for nobody, and skips handlers only if the fork came while
 * the agent's thread was inside CUPTI.
 */
#ifndef TRAINPROF_SRC_AGENT_CUPTI_EXIT_GUARD_H
#define TRAINPROF_SRC_AGENT_CUPTI_EXIT_GUARD_H

#include <stdbool.h>

struct tp_ring_writer;

/* Called before the agent's thread starts. The ring is borrowed for good: its owner is the process
 * that waits, and a wake on its word ends the thread's sleep. */
void tp_exit_guard_begin(const struct tp_ring_writer *ring);
/* Called when the agent's thread has stopped or could not be started. */
void tp_exit_guard_end(void);

/* Makes exit() wait for the thread before it runs the handlers registered so far. Any thread, any
 * number of times. */
void tp_exit_guard_register(void);

/* True if the program is ending: the thread must stop soon. */
bool tp_exit_guard_is_over(void);

/* Called by the agent's thread between two calls of CUPTI. Does not return once CUPTI was given up,
 * because its handlers run or have run. The process ends soon. */
void tp_exit_guard_checkpoint(void);

/* Records that the agent's thread is about to call CUPTI, or has stopped calling it. */
void tp_exit_guard_set_inside(bool is_inside);

/* Intercepts the handlers that the library containing this address registers from now on. Returns
 * false if its import slot could not be replaced. */
bool tp_exit_guard_cover(const void *address);

/* Called by the thread that has loaded CUPTI, before it calls CUPTI. If exit() was called during
 * the load, it is running the handlers of CUPTI's constructors and reaches the handler registered
 * here within microseconds. Returns false, after at most 10 ms, if the program is ending; CUPTI
 * must then not be called. */
bool tp_exit_guard_confirm(void);

#endif
