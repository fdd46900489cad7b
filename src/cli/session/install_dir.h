/* SPDX-License-Identifier: Apache-2.0 */
/* Where the directories are that come with trainprof: rules, and the Python module. */
#ifndef TRAINPROF_SRC_CLI_SESSION_INSTALL_DIR_H
#define TRAINPROF_SRC_CLI_SESSION_INSTALL_DIR_H

#include <stdbool.h>

/*
 * The first that `is_it` accepts: beside the program as it is installed (`name` below
 * share/trainprof), built (`source` in the source tree) or unpacked, then in /usr/local and /usr.
 * Absolute, to be freed; NULL when there is none.
 */
char *tp_install_dir_find(const char *name, const char *source, bool (*is_it)(const char *path));

/*
 * PYTHONPATH for the program: what it is, with the directory of the module "trainprof" behind it,
 * where it hides nothing else. NULL when it cannot be given: not installed, or a ':' in its path.
 */
char *tp_install_python_path(void);

#endif
