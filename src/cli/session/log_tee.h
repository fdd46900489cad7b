/* SPDX-License-Identifier: Apache-2.0 */
/* run --log: what the program writes goes to a file as well as to where it would have gone. */
#ifndef TRAINPROF_SRC_CLI_SESSION_LOG_TEE_H
#define TRAINPROF_SRC_CLI_SESSION_LOG_TEE_H

#include "trainprof/base/status.h"

#include <sys/types.h>

/* While it is open, descriptors 1 and 2 of this process are pipes that a child of ours empties. */
struct tp_log_tee {
	pid_t pid;
	int saved[2]; /* stdout and stderr as they were */
};

/* Call before the program is started: it inherits the pipes. Errors  TP_IO, TP_DENIED. */
TP_MUST_CHECK enum tp_status tp_log_tee_open(struct tp_log_tee *tee, const char *path,
					     struct tp_error *err);
/* Give this process its stdout and stderr back; the program keeps the pipes. */
void tp_log_tee_detach(struct tp_log_tee *tee);
/* The program has ended: wait until all it wrote has arrived, but not for daemons it left. */
void tp_log_tee_close(struct tp_log_tee *tee);

#endif
