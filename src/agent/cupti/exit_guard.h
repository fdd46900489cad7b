/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of the program and the agent's thread. exit() runs the exit handlers of CUPTI, which
 * destroy what CUPTI works with, while the agent's thread may be inside CUPTI: the program would
 * die of SIGSEGV. A handler of ours alone does not prevent that. Handlers run in reverse order, and
 * CUPTI registers some in the middle of its start, after ours.
 *
 * So handlers that CUPTI registers after it was loaded are registered by us, with a function of
 * ours that calls them (the word by which libcupti calls __cxa_atexit is replaced). Whichever comes
 * first waits until the agent's thread has stopped, two seconds at most. If it has not stopped by
 * then, it is inside a CUPTI that starts slowly or hangs, and CUPTI's handlers are skipped: what
 * they would destroy is in use, and the process ends anyway.
 *
 * The handlers that CUPTI's constructors register are older than the replaced word. A handler of
 * ours is registered after them and so runs, and waits, before them; but they are not skipped. See
 * tp_exit_guard_confirm() for exit() during the load itself.
 *
 * One in a process. In a forked child nobody is waited for, and handlers are skipped only where the
 * fork came while the agent's thread was inside CUPTI.
 */
#ifndef TRAINPROF_SRC_AGENT_CUPTI_EXIT_GUARD_H
#define TRAINPROF_SRC_AGENT_CUPTI_EXIT_GUARD_H

#include <stdbool.h>

struct tp_ring_writer;

/* Before the agent's thread begins. The ring is borrowed for good: its owner is the process that
 * waits, and a wake on its word ends the thread's sleep. */
void tp_exit_guard_begin(const struct tp_ring_writer *ring);
/* The agent's thread has stopped, or could not be started. */
void tp_exit_guard_end(void);

/* Have exit() wait for the thread before the handlers that are registered so far. Any thread, any
 * number of times. */
void tp_exit_guard_register(void);

/* The program ends: the thread has to stop soon. */
bool tp_exit_guard_is_over(void);

/* Between two calls of CUPTI, in the agent's thread: never returns once CUPTI was given up, as its
 * handlers run or have run. The process ends soon. */
void tp_exit_guard_checkpoint(void);

/* The agent's thread is about to call CUPTI, or does so no more. */
void tp_exit_guard_set_inside(bool is_inside);

/* Guard the handlers that the library with this address in it registers from now on. False: it
 * registers handlers by a word that could not be replaced. */
bool tp_exit_guard_cover(const void *address);

/*
 * After CUPTI was loaded by this thread, and before it is called. If exit() was called during the
 * load, it is running the handlers of CUPTI's constructors; it comes to the handler registered here
 * within microseconds. False, after 10 ms at most: the program ends, and CUPTI must not be called.
 */
bool tp_exit_guard_confirm(void);

#endif
