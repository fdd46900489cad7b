/* SPDX-License-Identifier: Apache-2.0 */
/* Messages on stderr: one line "trainprof: what: why", then "  next:" with something to type. */
#ifndef TRAINPROF_SRC_CLI_TERMINAL_MESSAGES_H
#define TRAINPROF_SRC_CLI_TERMINAL_MESSAGES_H

#include "trainprof/base/status.h"

/* Prints the error in err, after "trainprof" and, if not NULL, the command's name. */
void tp_message_error(const char *command, const struct tp_error *err);

/* Prints one line of our own; `next` may be NULL. */
void tp_message_print(const char *next, const char *format, ...) TP_PRINTF(2, 3);

/* Prints each line of a text as a separate message. */
void tp_message_print_lines(const char *lines);

/* The exit status for an error. */
int tp_exit_status(const struct tp_error *err);

/* Prints the error and returns its exit status. */
int tp_message_error_status(const char *command, const struct tp_error *err);

#endif
