/* SPDX-License-Identifier: Apache-2.0 */
/* What wakes the loop for perf's sake: rings that fill, and other descriptors. */
#ifndef TRAINPROF_SRC_COLLECT_PERF_PERF_EPOLL_H
#define TRAINPROF_SRC_COLLECT_PERF_PERF_EPOLL_H

#include "perf_event.h"

#include <stdint.h>

struct tp_perf_epoll {
	int fd;             /* readable when perf should look */
	uint64_t called_ns; /* last */
};

/* 0, or an errno: then there is nothing to close. */
int tp_perf_epoll_open(struct tp_perf_epoll *wait);
void tp_perf_epoll_close(struct tp_perf_epoll *wait);

/* The rings of open events, and a descriptor that somebody else takes the wake-ups of. */
void tp_perf_epoll_add_rings(const struct tp_perf_epoll *wait, const struct tp_perf_events *events);
void tp_perf_epoll_add_fd(const struct tp_perf_epoll *wait, int fd);

/* Take the wake-ups, at each look of perf. fill: of the fullest ring when last looked. */
void tp_perf_epoll_drain(struct tp_perf_epoll *wait, const struct tp_perf_events *events,
			 double fill, uint64_t now_ns);

#endif
