/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Delays forks while the agent's thread is inside the loader. A child inherits a copy of the
 * loader's locks but not the thread that would release them; it would wait forever when it loads a
 * library or exits. A fork therefore waits until the loader has returned, for at most 100 ms,
 * because the thread that forks may be the one that the loader is serving.
 *
 * One per process. Only the agent's thread calls these functions.
 */
#ifndef TRAINPROF_SRC_AGENT_CUPTI_FORK_GATE_H
#define TRAINPROF_SRC_AGENT_CUPTI_FORK_GATE_H

#include <stdbool.h>

/* Returns false if the loader must not be called, because a fork is under way or forks cannot be
 * intercepted. After a return of true, call the loader and then leave the gate. */
bool tp_fork_gate_enter(void);
void tp_fork_gate_leave(void);

#endif
