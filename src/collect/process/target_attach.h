/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that runs already and is none of our children: found, recognised, watched for its end.
 *
 * It is held by a pidfd, so that a pid which is given to another process meanwhile is noticed: as
 * long as the descriptor does not say that the process has ended, its number means this process.
 * Nothing here stops, signals or traces it.
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
	int pidfd; /* readable when the process has ended */
};

/*
 * Errors  TP_TARGET: no such process, one that has ended, a thread, a thread of the kernel,
 * trainprof itself. TP_DENIED: another user's. err->next says what to type.
 */
TP_MUST_CHECK enum tp_status tp_target_attachment_open(struct tp_target_attachment *out, pid_t pid,
						       struct tp_error *err);
void tp_target_attachment_close(struct tp_target_attachment *attachment);

bool tp_target_attachment_has_ended(const struct tp_target_attachment *attachment);

/* TP_END_DETACHED while it runs; when it has ended TP_END_EXITED or TP_END_SIGNALED, or
 * TP_END_UNKNOWN where the kernel does not tell strangers how. No usage. */
void tp_target_attachment_end(const struct tp_target_attachment *attachment,
			      struct tp_target_end *out);

#endif
