/* SPDX-License-Identifier: Apache-2.0 */
/* Turning this process into a program, and saying why that failed. */
#ifndef TRAINPROF_SRC_COLLECT_PROCESS_TARGET_EXEC_H
#define TRAINPROF_SRC_COLLECT_PROCESS_TARGET_EXEC_H

#include "trainprof/base/status.h"

/*
 * execvpe(), except that a file which is neither script nor program for this machine fails with
 * ENOEXEC instead of being fed to the shell. Returns only on failure, with an errno.
 */
int tp_target_exec(char *const *argv, char *const *env);

/*
 * Why `file` could not be executed with errno `cause`. Fills err with TP_TARGET and returns the
 * exit status of shells: 127 when it was not found, 126 when it was.
 */
int tp_target_exec_explain(const char *file, int cause, struct tp_error *err);

#endif
