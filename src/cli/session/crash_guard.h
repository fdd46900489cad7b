/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Should trainprof itself fail while the program runs, the program is not to notice: what is left
 * of trainprof waits for it, passes signals on, and ends as it ends.
 */
#ifndef TRAINPROF_SRC_CLI_SESSION_CRASH_GUARD_H
#define TRAINPROF_SRC_CLI_SESSION_CRASH_GUARD_H

#include <sys/types.h>

/* Watch over this process until tp_crash_guard_stop(). `name` is borrowed: the program's, for the
 * message. Only one program at a time. */
void tp_crash_guard_start(pid_t target, const char *name);
void tp_crash_guard_stop(void);

#endif
