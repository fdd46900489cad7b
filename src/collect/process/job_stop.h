/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Job control: when the program is stopped by Ctrl-Z, we stop as well, so that the shell sees the
 * job stopped, and go on when the program does, whoever continued it.
 */
#ifndef TRAINPROF_SRC_COLLECT_PROCESS_JOB_STOP_H
#define TRAINPROF_SRC_COLLECT_PROCESS_JOB_STOP_H

#include <sys/types.h>

/*
 * Stops the calling process by `signal` (SIGTSTP, SIGTTIN, SIGTTOU) until somebody continues it, or
 * the child `pid` runs again or ends. In a group without a shell the kernel drops these signals:
 * then it returns at once.
 */
void tp_job_stop(pid_t pid, int signal);

#endif
