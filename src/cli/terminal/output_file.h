/* SPDX-License-Identifier: Apache-2.0 */
/* A file that a command writes completely or not at all: under a temporary name first, which is
 * removed on an interruption. stdout and files that are not regular are written directly. */
#ifndef TRAINPROF_SRC_CLI_TERMINAL_OUTPUT_FILE_H
#define TRAINPROF_SRC_CLI_TERMINAL_OUTPUT_FILE_H

#include "interrupt.h"

#include "trainprof/base/status.h"

#include <stdio.h>

/* Must not move between open and close. */
struct tp_output_file {
	FILE *stream;
	const char *path; /* borrowed; NULL for stdout */
	char *temporary;  /* heap; NULL if written directly */
	struct tp_interrupt interrupt;
};

/* True if the path means stdout: NULL or "-". */
bool tp_output_file_is_stdout(const char *path);

/* Creates the file with mode 0600, like tp_file_replace().
 * Errors  TP_IO, TP_DENIED. */
TP_MUST_CHECK enum tp_status tp_output_file_open(struct tp_output_file *file, const char *path,
						 struct tp_error *err);
/* Renames the file to its final name, if there was no error so far; else removes it. Returns the
 * first failure.
 * Errors  TP_IO. */
TP_MUST_CHECK enum tp_status tp_output_file_close(struct tp_output_file *file,
						  enum tp_status so_far, struct tp_error *err);

#endif
