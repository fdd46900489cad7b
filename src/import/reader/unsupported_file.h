/* SPDX-License-Identifier: Apache-2.0 */
/* What to say of a file that no importer reads. */
#ifndef TRAINPROF_SRC_IMPORT_READER_UNSUPPORTED_FILE_H
#define TRAINPROF_SRC_IMPORT_READER_UNSUPPORTED_FILE_H

#include "trainprof/base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Tells by its name and its first bytes what it is instead, and what to do. Always TP_PARSE. */
enum tp_status tp_unsupported_file_error(const char *path, const unsigned char *head, size_t size,
					 struct tp_error *err);

/* Whether a folder is one that a tool has to be run on first: then `err` says so. */
bool tp_unsupported_folder_find(const char *path, struct tp_error *err);

#endif
