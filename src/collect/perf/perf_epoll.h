/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptors for which perf wakes the main loop: rings that fill, and others. */
#ifndef TRAINPROF_SRC_COLLECT_PERF_PERF_EPOLL_H
#define TRAINPROF_SRC_COLLECT_PERF_PERF_EPOLL_H

#include "perf_event.h"

#include <stdint.h>

struct tp_perf_epoll {
	int fd;             /* readable if perf has work */
	uint64_t called_ns; /* time of the last call */
};

/* Returns 0, or an errno: then there is nothing to close. */
int tp_perf_epoll_open(struct tp_perf_epoll *wait);
void tp_perf_epoll_close(struct tp_perf_epoll *wait);

/* Add the rings of open events, and a descriptor whose wake-ups other code consumes. */
void tp_perf_epoll_add_rings(const struct tp_perf_epoll *wait, const struct tp_perf_events *events);
void tp_perf_epoll_add_fd(const struct tp_perf_epoll *wait, int fd);

/* Consumes the wake-ups, each time perf processes records. fill: of the fullest ring at the last
 * refresh. */
void tp_perf_epoll_drain(struct tp_perf_epoll *wait, const struct tp_perf_events *events,
			 double fill, uint64_t now_ns);

#endif
