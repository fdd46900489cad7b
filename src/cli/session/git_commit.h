/* SPDX-License-Identifier: Apache-2.0 */
/* The commit of a git repository. */
#ifndef TRAINPROF_SRC_CLI_SESSION_GIT_COMMIT_H
#define TRAINPROF_SRC_CLI_SESSION_GIT_COMMIT_H

#include "trainprof/base/arena.h"

/* Returns the commit that is checked out in the directory or above it; NULL if there is none. Reads
 * files of the repository (gitrepository-layout(5)): git is not started, because the settings of a
 * repository may name programs, and a measurement must not wait for it. */
const char *tp_git_commit_read(const char *directory, struct tp_arena *arena);

#endif
