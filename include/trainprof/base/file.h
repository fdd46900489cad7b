/* SPDX-License-Identifier: Apache-2.0 */
/* Files: read whole with a bound, write so that a reader sees the old or the new one. */
#ifndef TRAINPROF_BASE_FILE_H
#define TRAINPROF_BASE_FILE_H

#include "trainprof/base/buf.h"
#include "trainprof/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Read a regular file or a /proc file whole. `out` is cleared first; on failure it is empty.
 * Errors  TP_ABSENT (no such file), TP_DENIED, TP_PARSE (larger than max_bytes), TP_IO.
 */
TP_MUST_CHECK enum tp_status tp_file_read(struct tp_buf *out, const char *path, size_t max_bytes,
					  struct tp_error *err);

/* Write to a temporary name in the same directory, fsync, rename. Mode 0600. */
TP_MUST_CHECK enum tp_status tp_file_replace(const char *path, const void *bytes, size_t size,
					     struct tp_error *err);

/* For a path that the user named: a target that is neither a regular file nor a directory (a
 * device, a FIFO, a link such as /dev/stdout) is written to; everything else is replaced as
 * above. */
TP_MUST_CHECK enum tp_status tp_file_write(const char *path, const void *bytes, size_t size,
					   struct tp_error *err);

/* Write all bytes to fd, through EINTR and short writes. False with errno set. */
bool tp_file_write_all(int fd, const void *bytes, size_t size);

/* Flushes a stream and reports whether everything written to it arrived. `name` is for the
 * message. */
TP_MUST_CHECK enum tp_status tp_file_check(FILE *stream, const char *name, struct tp_error *err);

/* Read a small /proc or /sys file into `out` without allocating; NUL-terminated, newline kept.
 * Returns the length, or -1 with errno. */
long tp_file_peek(const char *path, char *out, size_t size);

#endif
