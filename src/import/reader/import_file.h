/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one of the files to be imported: recognises it and chooses its importer. */
#ifndef TRAINPROF_SRC_IMPORT_READER_IMPORT_FILE_H
#define TRAINPROF_SRC_IMPORT_READER_IMPORT_FILE_H

#include "importer.h"

#include "trainprof/base/status.h"

#include <stddef.h>

struct tp_import_session;

/* The importers to choose from. */
struct tp_importer_list {
	const struct tp_importer *const *items;
	size_t n;
};

/* Reads all ranks of file number `file`. Errors as tp_import_files(). */
TP_MUST_CHECK enum tp_status tp_import_file_read(struct tp_import_session *session, size_t file,
						 const char *path,
						 const struct tp_importer_list *importers,
						 struct tp_error *err);

/* Returns the name of the format that the file has, static; NULL if no importer reads it, and for
 * archives and files that cannot be opened. */
const char *tp_import_file_format(const char *path, const struct tp_importer_list *importers);

#endif
