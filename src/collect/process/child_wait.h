/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for the end of a child process, with a time limit: a child that hangs in a driver does not
 * end when it is killed. */
#ifndef TRAINPROF_SRC_COLLECT_PROCESS_CHILD_WAIT_H
#define TRAINPROF_SRC_COLLECT_PROCESS_CHILD_WAIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Returns true if it ended within the time; checks at least once. The child is reaped, and *status
 * is set as by waitpid(); it stays unchanged if other code reaped the child before. */
bool tp_child_wait(pid_t pid, uint64_t within_ns, int *status);

#endif
