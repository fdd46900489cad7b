/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps a crash of trainprof from affecting the running program: the remaining handler waits for
 * the program, forwards signals, and ends with the program's status. */
#ifndef TRAINPROF_SRC_CLI_SESSION_CRASH_GUARD_H
#define TRAINPROF_SRC_CLI_SESSION_CRASH_GUARD_H

#include <sys/types.h>

/* Guards this process until tp_crash_guard_stop(). `name` is borrowed: the program's, for the
 * message. Only one program at a time. */
void tp_crash_guard_start(pid_t target, const char *name);
void tp_crash_guard_stop(void);

#endif
