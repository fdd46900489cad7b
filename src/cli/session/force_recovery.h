/* SPDX-License-Identifier: Apache-2.0 */
/* Recovers from a --force that was interrupted outright (kill -9, a machine that went down): it
 * left the recording that was to be replaced as "prof.old-4711" next to "prof". */
#ifndef TRAINPROF_SRC_CLI_SESSION_FORCE_RECOVERY_H
#define TRAINPROF_SRC_CLI_SESSION_FORCE_RECOVERY_H

#include <stdbool.h>

/*
 * Call before a recording is read or written: restores the old recording if the new one is missing
 * or is an unfinished import, which is unusable; removes the old one if the new one is complete. If
 * the new one is a run that was not closed, both stay. Prints what it did, unless is_quiet. A
 * recording that a living process has moved aside stays as it is. `directory` is that of the
 * recording; NULL = the last one here.
 */
void tp_force_recover(const char *directory, bool is_quiet);

#endif
