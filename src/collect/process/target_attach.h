/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that already runs and is not our child: found, checked, watched for its end.
 *
 * It is held by a pidfd, so that a reused pid is noticed: as long as the descriptor does not report
 * the end of the process, its pid means this process. Nothing here stops, signals or traces it.
 */
#ifndef TRAINPROF_SRC_COLLECT_PROCESS_TARGET_ATTACH_H
#define TRAINPROF_SRC_COLLECT_PROCESS_TARGET_ATTACH_H

#include "trainprof/base/status.h"
#include "trainprof/collect/target.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tp_target_attachment {
	pid_t pid;
	int pidfd; /* readable if the process has ended */
};

/* Errors  TP_TARGET: no such process, one that has ended, a thread, a kernel thread, trainprof
 * itself. TP_DENIED: another user's. err->next is the command to type. */
TP_MUST_CHECK enum tp_status tp_target_attachment_open(struct tp_target_attachment *out, pid_t pid,
						       struct tp_error *err);
void tp_target_attachment_close(struct tp_target_attachment *attachment);

bool tp_target_attachment_has_ended(const struct tp_target_attachment *attachment);

/* TP_END_DETACHED while it runs; after its end TP_END_EXITED or TP_END_SIGNALED, or TP_END_UNKNOWN
 * if the kernel does not report the status to other processes. No usage. */
void tp_target_attachment_end(const struct tp_target_attachment *attachment,
			      struct tp_target_end *out);

#endif
