/* SPDX-License-Identifier: Apache-2.0 */
/* run --log: copies the program's output to a file and to its original destination, or sends it to
 * the file alone. */
#ifndef TRAINPROF_SRC_CLI_SESSION_LOG_TEE_H
#define TRAINPROF_SRC_CLI_SESSION_LOG_TEE_H

#include "trainprof/base/status.h"

#include <stdbool.h>
#include <sys/types.h>

/* While open, descriptors 1 and 2 of this process are pipes that a child of ours reads, or the
 * file. */
struct tp_log_tee {
	pid_t pid; /* of the child; 0 = there is none */
	bool is_open;
	int saved[2]; /* the original stdout and stderr */
};

/* Call before the program is started: it inherits the pipes.
 * Errors  TP_IO, TP_DENIED. */
TP_MUST_CHECK enum tp_status tp_log_tee_open(struct tp_log_tee *tee, const char *path,
					     struct tp_error *err);
/* The same, but the original destination gets nothing. */
TP_MUST_CHECK enum tp_status tp_log_tee_open_file(struct tp_log_tee *tee, const char *path,
						  struct tp_error *err);
/* Restores stdout and stderr of this process; the program keeps the pipes. */
void tp_log_tee_detach(struct tp_log_tee *tee);
/* Call after the program has ended: waits until all its output has been copied, but not for daemons
 * that it left. */
void tp_log_tee_close(struct tp_log_tee *tee);

#endif
