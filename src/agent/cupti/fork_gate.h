/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Delays forks while a thread is inside the loader, or registers an exit handler. A child inherits
 * a copy of the C library's locks but not the thread that would release them; it would wait forever
 * when it loads a library or exits. A fork therefore waits until that thread has returned, for at
 * most 100 ms, because the thread that forks may be the one that the loader is serving.
 *
 * One per process. Several threads may be inside at once; the first call comes before the agent's
 * thread starts (tp_exit_guard_register()).
 */
#ifndef TRAINPROF_SRC_AGENT_CUPTI_FORK_GATE_H
#define TRAINPROF_SRC_AGENT_CUPTI_FORK_GATE_H

#include <stdbool.h>

/* Returns false if the loader must not be called, because a fork is under way or forks cannot be
 * intercepted. After a return of true, call the loader and then leave the gate. */
bool tp_fork_gate_enter(void);
/* Enters as soon as no fork is under way. Returns false, and is not inside, if that took more than
 * 100 ms or forks cannot be intercepted. */
bool tp_fork_gate_wait(void);
void tp_fork_gate_leave(void);

#endif
