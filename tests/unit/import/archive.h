/* SPDX-License-Identifier: Apache-2.0 */
/* Writes tar archives for tests. */
#ifndef TRAINPROF_TESTS_UNIT_IMPORT_ARCHIVE_H
#define TRAINPROF_TESTS_UNIT_IMPORT_ARCHIVE_H

#include "trainprof/base/buf.h"

#include <stddef.h>

/* Appends a member of a type ('0' is a file, '5' a folder). */
void archive_add(struct tp_buf *out, const char *name, char type, const void *bytes, size_t size);
void archive_end(struct tp_buf *out);

/* Corrects the checksum of a header after a change. */
void archive_sum(char *header);

#endif
