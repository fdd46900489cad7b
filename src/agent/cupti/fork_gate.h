/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forks while the agent's thread is inside the loader. A child has a copy of the loader's locks,
 * and nobody who releases what the agent's thread held: it would wait for ever where it loads
 * something or ends. So a fork waits until the loader has answered, 100 ms at most, because the
 * thread that forks may be the one that the loader serves.
 *
 * One in a process. The functions are the agent's thread's.
 */
#ifndef TRAINPROF_SRC_AGENT_CUPTI_FORK_GATE_H
#define TRAINPROF_SRC_AGENT_CUPTI_FORK_GATE_H

#include <stdbool.h>

/* False: the loader must not be called, because a fork is under way, or forks cannot be watched.
 * True: call it, then leave. */
bool tp_fork_gate_enter(void);
void tp_fork_gate_leave(void);

#endif
