/* SPDX-License-Identifier: Apache-2.0 */
/* The main loop of the helper process (pm_helper.h): reads requests, opens windows, sends
 * events. */
#ifndef TRAINPROF_SRC_COLLECT_GPU_COUNTERS_PM_WORKER_H
#define TRAINPROF_SRC_COLLECT_GPU_COUNTERS_PM_WORKER_H

/* Returns when the other end of the socket is closed. */
void tp_pm_worker_run(int fd);

#endif
