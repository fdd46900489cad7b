/* SPDX-License-Identifier: Apache-2.0 */
/* Error messages for files that no importer reads. */
#ifndef TRAINPROF_SRC_IMPORT_READER_UNSUPPORTED_FILE_H
#define TRAINPROF_SRC_IMPORT_READER_UNSUPPORTED_FILE_H

#include "trainprof/base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Identifies the file by its name and its first bytes, and sets an error with what to do. Always
 * returns TP_PARSE. */
enum tp_status tp_unsupported_file_error(const char *path, const unsigned char *head, size_t size,
					 struct tp_error *err);

/* Returns true, and sets `err`, if a tool has to be run on the folder first. */
bool tp_unsupported_folder_find(const char *path, struct tp_error *err);

#endif
