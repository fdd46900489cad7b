/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that a command writes, whole or not at all: under another name first, which an
 * interruption removes. stdout and what is no regular file are written to directly.
 */
#ifndef TRAINPROF_SRC_CLI_TERMINAL_OUTPUT_FILE_H
#define TRAINPROF_SRC_CLI_TERMINAL_OUTPUT_FILE_H

#include "interrupt.h"

#include "trainprof/base/status.h"

#include <stdio.h>

/* Between open and close; where it lies must not move. */
struct tp_output_file {
	FILE *stream;
	const char *path; /* borrowed; NULL of stdout */
	char *temporary;  /* heap; NULL where it is written directly */
	struct tp_interrupt interrupt;
};

/* Whether that names stdout: NULL or "-". */
bool tp_output_file_is_stdout(const char *path);

/* Mode 0600, as tp_file_replace() has it. Errors  TP_IO, TP_DENIED. */
TP_MUST_CHECK enum tp_status tp_output_file_open(struct tp_output_file *file, const char *path,
						 struct tp_error *err);
/* Give the file its name, if all went well so far; else nothing is left of it. Returns the first
 * failure. Errors  TP_IO. */
TP_MUST_CHECK enum tp_status tp_output_file_close(struct tp_output_file *file,
						  enum tp_status so_far, struct tp_error *err);

#endif
