/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process that was killed outright (kill -9, a machine that went down) has left of --force:
 * the recording that was to be replaced, set aside as "prof.old-4711" beside "prof".
 */
#ifndef TRAINPROF_SRC_CLI_SESSION_FORCE_RECOVERY_H
#define TRAINPROF_SRC_CLI_SESSION_FORCE_RECOVERY_H

#include <stdbool.h>

/*
 * Before a recording is read or written: put the old one back where the new one is missing or is an
 * import that did not end, which nobody can use; remove it where the new one is whole. Of a run
 * that was not closed both stay. Says what it did, unless it has to be quiet. What a living process
 * has set aside stays as it is. `directory` is the recording's; NULL means the last one here.
 */
void tp_force_recover(const char *directory, bool is_quiet);

#endif
