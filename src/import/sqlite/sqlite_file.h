/* SPDX-License-Identifier: Apache-2.0 */
/* A read-only view of a file for SQLite: complete pages only, because SQLite fills the rest of a
 * partial page with zeros and reads them as rows; without locks and without logs next to it. */
#ifndef TRAINPROF_SRC_IMPORT_SQLITE_SQLITE_FILE_H
#define TRAINPROF_SRC_IMPORT_SQLITE_SQLITE_FILE_H

#include "trainprof/base/status.h"

#include <stdint.h>

struct tp_sqlite_file;

/* Errors  TP_ABSENT, TP_DENIED, TP_IO. */
TP_MUST_CHECK enum tp_status tp_sqlite_file_open(struct tp_sqlite_file **out, const char *path,
						 struct tp_error *err);
/* To be called after the connection that used it is closed; NULL is allowed. */
void tp_sqlite_file_close(struct tp_sqlite_file *file);

/* Returns the name of the VFS for this file; any file name opens it. */
const char *tp_sqlite_file_vfs(const struct tp_sqlite_file *file);
uint64_t tp_sqlite_file_size(const struct tp_sqlite_file *file);
/* Returns the damage of the file itself; NULL if there is none. Static storage. */
const char *tp_sqlite_file_error(const struct tp_sqlite_file *file);

#endif
