/* SPDX-License-Identifier: Apache-2.0 */
/* run --live: a second trainprof that shows the recording on the terminal while it is written. */
#ifndef TRAINPROF_SRC_CLI_SESSION_LIVE_CHILD_H
#define TRAINPROF_SRC_CLI_SESSION_LIVE_CHILD_H

#include <sys/types.h>

/* Zero-initialised it is not running. */
struct tp_live_child {
	pid_t pid;
};

/* The keys are for the live view: replaces stdin by an empty one, which the program inherits.
 * Returns a copy of the former stdin for the next function; -1 on failure. */
int tp_live_child_hold_keys(void);
void tp_live_child_return_keys(int saved);

/* Starts `trainprof top DIRECTORY` (an absolute name) on the terminal of this process. The
 * recording goes on without it if no process can be started, and when the user quits it. */
void tp_live_child_start(struct tp_live_child *child, const char *directory);
/* Ends it, and returns when it has restored the terminal. */
void tp_live_child_stop(struct tp_live_child *child);

#endif
