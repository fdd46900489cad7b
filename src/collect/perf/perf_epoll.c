/* SPDX-License-Identifier: Apache-2.0 */
/* One descriptor for all rings. */
#include "perf_epoll.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

int tp_perf_epoll_open(struct tp_perf_epoll *wait)
{
	*wait = (struct tp_perf_epoll){.fd = epoll_create1(EPOLL_CLOEXEC)};
	return wait->fd < 0 ? errno : 0;
}

void tp_perf_epoll_close(struct tp_perf_epoll *wait)
{
	close(wait->fd);
}

void tp_perf_epoll_add_rings(const struct tp_perf_epoll *wait, const struct tp_perf_events *events)
{
	for (uint32_t i = 0; i < events->n_cpus; i++) {
		struct epoll_event event = {.events = EPOLLIN | EPOLLET,
					    .data.fd = events->sample_fds[i]};
		epoll_ctl(wait->fd, EPOLL_CTL_ADD, event.data.fd, &event);
	}
}

void tp_perf_epoll_add_fd(const struct tp_perf_epoll *wait, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
	epoll_ctl(wait->fd, EPOLL_CTL_ADD, fd, &event);
}

/* Wake-ups are edge-triggered, so they must be consumed; a ring whose threads have all ended would
 * wake us forever. Done only if there may be some, which saves a system call with a quiet target: a
 * ring is filling, or the last call was just before. */
void tp_perf_epoll_drain(struct tp_perf_epoll *wait, const struct tp_perf_events *events,
			 double fill, uint64_t now_ns)
{
	bool is_early = now_ns - wait->called_ns < 2 * TP_NS_PER_MS;
	wait->called_ns = now_ns;
	if (!is_early && fill < events->wakeup_share / 2)
		return;
	struct epoll_event ready[16];
	int n = epoll_wait(wait->fd, ready, TP_ARRAY_LEN(ready), 0);
	for (int i = 0; i < n; i++)
		if (ready[i].events & (EPOLLHUP | EPOLLERR))
			epoll_ctl(wait->fd, EPOLL_CTL_DEL, ready[i].data.fd, NULL);
}
