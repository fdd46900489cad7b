/* SPDX-License-Identifier: Apache-2.0 */
/* What the helper process does (pm_helper.h): reads wishes, opens windows, sends news. */
#ifndef TRAINPROF_SRC_COLLECT_GPU_COUNTERS_PM_WORKER_H
#define TRAINPROF_SRC_COLLECT_GPU_COUNTERS_PM_WORKER_H

/* Until the other end of the socket is closed. */
void tp_pm_worker_run(int fd);

#endif
