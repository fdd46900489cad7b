/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a folder again that was moved while it was open. */
#ifndef TRAINPROF_SRC_STORE_FOLDER_H
#define TRAINPROF_SRC_STORE_FOLDER_H

/* Returns the path of the folder that is open as `fd`, on the heap: `path` if it still leads there,
 * and where it was moved to otherwise. NULL if no path leads there: it was removed, or its disk was
 * unmounted. */
char *tp_folder_find(const char *path, int fd);

#endif
