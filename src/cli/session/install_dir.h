/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the directories that are installed with trainprof: rules, and the Python module. */
#ifndef TRAINPROF_SRC_CLI_SESSION_INSTALL_DIR_H
#define TRAINPROF_SRC_CLI_SESSION_INSTALL_DIR_H

#include <stdbool.h>

/* Saves where the program is. Called once, at the start; without it nothing next to the program is
 * found. */
void tp_install_dir_save(void);

/* Returns the first directory that `is_it` accepts: next to the program as it is installed (`name`
 * below share/trainprof), built (`source` in the source tree) or unpacked, then in /usr/local and
 * /usr. Absolute, freed by the caller; NULL if there is none. */
char *tp_install_dir_find(const char *name, const char *source, bool (*is_it)(const char *path));

/* Settings of PyTorch's DataLoader that src/python/trainprof/_loader.py applies in the program. */
#define TP_LOADER_ENV     "TRAINPROF_LOADER"
#define TP_LOADER_LOG_ENV "TRAINPROF_LOADER_LOG"

/* PYTHONPATH for the program: the current value, followed by the directory of the module
 * "trainprof", where it hides nothing else. If TP_LOADER_ENV is set, a folder with a
 * sitecustomize.py comes first. NULL if that is not possible: not installed, or a ':' in its path.
 */
char *tp_install_python_path(void);

#endif
