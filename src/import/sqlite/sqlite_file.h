/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file as SQLite is to see it: whole pages only, for it fills the rest of a torn one with zeroes
 * and takes them for rows; not to be written, without locks and without logs beside it.
 */
#ifndef TRAINPROF_SRC_IMPORT_SQLITE_SQLITE_FILE_H
#define TRAINPROF_SRC_IMPORT_SQLITE_SQLITE_FILE_H

#include "trainprof/base/status.h"

#include <stdint.h>

struct tp_sqlite_file;

/* Errors  TP_ABSENT, TP_DENIED, TP_IO. */
TP_MUST_CHECK enum tp_status tp_sqlite_file_open(struct tp_sqlite_file **out, const char *path,
						 struct tp_error *err);
/* After the connection that used it; NULL is allowed. */
void tp_sqlite_file_close(struct tp_sqlite_file *file);

/* The name of SQLite's way to it (a VFS), by which any name opens it. */
const char *tp_sqlite_file_vfs(const struct tp_sqlite_file *file);
uint64_t tp_sqlite_file_size(const struct tp_sqlite_file *file);
/* What is wrong with it as a file; NULL: nothing. Static storage. */
const char *tp_sqlite_file_error(const struct tp_sqlite_file *file);

#endif
