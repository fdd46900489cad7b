/* SPDX-License-Identifier: Apache-2.0 */
/* Executes a program in this process, and explains failures. */
#ifndef TRAINPROF_SRC_COLLECT_PROCESS_TARGET_EXEC_H
#define TRAINPROF_SRC_COLLECT_PROCESS_TARGET_EXEC_H

#include "trainprof/base/status.h"

/* execvpe(), except that a file which is neither a script nor a program for this machine fails with
 * ENOEXEC instead of being run by the shell. Returns only on failure, with an errno. */
int tp_target_exec(char *const *argv, char *const *env);

/* Explains why `file` could not be executed with errno `cause`. Fills err with TP_TARGET and
 * returns the exit status of shells: 127 if it was not found, 126 if it was. */
int tp_target_exec_explain(const char *file, int cause, struct tp_error *err);

/* Explains why no process could be started for the program, with errno `cause`; TP_TARGET. */
enum tp_status tp_target_start_explain(int cause, struct tp_error *err);

#endif
