/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and reads /tmp/perf-PID.map of a target, without trusting its content. */
#ifndef TRAINPROF_SRC_STACK_SYMBOLS_JIT_FILE_H
#define TRAINPROF_SRC_STACK_SYMBOLS_JIT_FILE_H

#include "trainprof/base/buf.h"
#include "trainprof/base/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tp_jit_file_owner {
	pid_t pid;
	uid_t uid;
	bool is_known;        /* false: the process exited before its user could be read */
	uint64_t met_wall_ns; /* a file older than this belongs to an earlier process with the same
				 pid */
};

/* Errors  TP_ABSENT, TP_DENIED (not a regular file of that user), TP_PARSE (too large), TP_IO. */
TP_MUST_CHECK enum tp_status
tp_jit_file_read(struct tp_buf *out, const struct tp_jit_file_owner *owner, struct tp_error *err);
#endif
