/* SPDX-License-Identifier: Apache-2.0 */
/* Job control: when the program is stopped by Ctrl-Z, trainprof stops as well, so that the shell
 * sees a stopped job, and continues when the program does, no matter which process continued it. */
#ifndef TRAINPROF_SRC_COLLECT_PROCESS_JOB_STOP_H
#define TRAINPROF_SRC_COLLECT_PROCESS_JOB_STOP_H

#include <sys/types.h>

/* Stops the calling process with `signal` (SIGTSTP, SIGTTIN, SIGTTOU) until another process
 * continues it, or the child `pid` runs again or ends. In a group without a shell the kernel drops
 * these signals: then it returns at once. */
void tp_job_stop(pid_t pid, int signal);

#endif
