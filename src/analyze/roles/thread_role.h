/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns roles to the threads of a trainer: compute team, loader, communication. */
#ifndef TRAINPROF_SRC_ANALYZE_ROLES_THREAD_ROLE_H
#define TRAINPROF_SRC_ANALYZE_ROLES_THREAD_ROLE_H

#include "analyze/analysis.h"

/* CPU time of a thread in reading, decoding and transferring data; and in work that may be
 * training. */
uint64_t tp_thread_role_loader_ns(const struct tp_thread_info *info);
uint64_t tp_thread_role_compute_ns(const struct tp_thread_info *info);

/* Sets threads[].role of all threads; needs the roles of processes and the main thread. */
void tp_thread_role_assign(struct tp_analysis *analysis);

#endif
