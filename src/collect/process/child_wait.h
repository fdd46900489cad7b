/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a child process of ours that is waited for, but not for ever: one that hangs in a
 * driver does not end when it is killed.
 */
#ifndef TRAINPROF_SRC_COLLECT_PROCESS_CHILD_WAIT_H
#define TRAINPROF_SRC_COLLECT_PROCESS_CHILD_WAIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Whether it has ended, by then at the latest; looks at least once. Its end is taken, and *status
 * says how it was, as of waitpid(); it stays as it is where somebody else took the end before.
 */
bool tp_child_wait(pid_t pid, uint64_t within_ns, int *status);

#endif
