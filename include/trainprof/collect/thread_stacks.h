/* SPDX-License-Identifier: Apache-2.0 */
/* A snapshot of all threads of a running program, for "my job hangs". */
#ifndef TRAINPROF_COLLECT_THREAD_STACKS_H
#define TRAINPROF_COLLECT_THREAD_STACKS_H

#include "trainprof/base/status.h"
#include "trainprof/collect/host_info.h"
#include "trainprof/model/source.h"
#include "trainprof/model/thread_stack.h"

#include <sys/types.h>

/* Reads the process and all its descendants without stopping them. `access` reports what could not
 * be read, and what to type. Release `out` after TP_OK. Errors  TP_TARGET (no such process, a
 * thread, trainprof itself), TP_DENIED (another user's). */
TP_MUST_CHECK enum tp_status tp_thread_stacks_read(struct tp_thread_stacks *out,
						   const struct tp_host *host, pid_t pid,
						   struct tp_availability *access,
						   struct tp_error *err);
void tp_thread_stacks_release(struct tp_thread_stacks *stacks);

#endif
