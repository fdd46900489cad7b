/* SPDX-License-Identifier: Apache-2.0 */
/* Finds pools of processes that compute what the training process only hands out and collects. */
#ifndef TRAINPROF_SRC_ANALYZE_ROLES_TASK_POOL_H
#define TRAINPROF_SRC_ANALYZE_ROLES_TASK_POOL_H

#include "analyze/analysis.h"

/* Changes the roles of such processes to TP_ROLE_WORKER, and of their owner to TP_ROLE_TRAINER. The
 * workers of a general pool (multiprocessing.Pool, ProcessPoolExecutor, joblib) load data as well
 * as evaluate an evolution's individuals. Where they load, or do none of the owner's math, they are
 * no TP_ROLE_TRAINER but a TP_ROLE_LOADER; where only the owner's own work speaks against a pool
 * that computes, their roles stay as they are. Sets pool_owners. Needs timelines and the first
 * roles of processes. */
void tp_task_pool_assign(struct tp_analysis *analysis);

/* True if the process has the role of the trainer's worker and works for that trainer. */
bool tp_task_pool_has_worker(const struct tp_analysis *analysis, uint32_t trainer, uint32_t leader);

/* Number of such workers of the trainer. */
size_t tp_task_pool_count(const struct tp_analysis *analysis, uint32_t trainer);

#endif
