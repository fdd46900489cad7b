/* SPDX-License-Identifier: Apache-2.0 */
/* Opens, drains and closes the events of threads whose callers are wanted. */
#include "switched_stack_watch.h"

#include "perf_decode.h"
#include "perf_period.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define TP_LOG_DOMAIN "collect"
#include "trainprof/base/log.h"

enum {
	RING_PAGES = 4,     /* two samples and more */
	STACK_BYTES = 4096, /* only the lowest words matter */
	WATCHED_MAX = 16,
	FIRST_SAMPLES = 64, /* of a thread, at the rate of the others; later samples are rarer: */
	FACTOR = 4,
	STALE_SAMPLES_MAX = 100, /* samples without new callers */
};

/* Half of the reads happen within 0.1 ms of their sample. A late read may find the callers of
 * another call. */
#define LATE_NS (TP_NS_PER_MS / 2)
#define REST_NS (10 * TP_NS_PER_S)

struct tp_switched_stack_watched {
	uint32_t task;
	pid_t tid;
	int fd;
	struct tp_perf_ring ring;
	unsigned n_samples;
	unsigned n_stale; /* samples since the last one that added something new */
	bool has_reported;
};

int tp_switched_stack_watch_init(struct tp_switched_stack_watch *watch,
				 const struct tp_task_tree *tree, struct tp_perf_callchain *stacks,
				 uint64_t period_ns, uint64_t seed)
{
	*watch = (struct tp_switched_stack_watch){.tree = tree,
						  .stacks = stacks,
						  .period_ns = period_ns,
						  .seed = seed};
	watch->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return watch->epoll_fd < 0 ? errno : 0;
}

static void watched_close(struct tp_switched_stack_watched *item)
{
	tp_perf_ring_unmap(&item->ring);
	close(item->fd);
}

void tp_switched_stack_watch_release(struct tp_switched_stack_watch *watch)
{
	for (size_t i = 0; i < watch->n; i++)
		watched_close(&watch->items[i]);
	free(watch->items);
	tp_map_release(&watch->rests_ns);
	close(watch->epoll_fd);
}

/* Draws a random period, so that samples are not synchronous with the kernels. */
static uint64_t draw_period(struct tp_switched_stack_watch *watch,
			    const struct tp_switched_stack_watched *item)
{
	uint64_t period_ns = watch->period_ns * (item->n_samples < FIRST_SAMPLES ? 1 : FACTOR);
	return period_ns / 2 + tp_perf_random(&watch->seed) % period_ns;
}

/* ---- samples ---- */

static void remember(struct tp_switched_stack_watch *watch, struct tp_switched_stack_watched *item,
		     const struct tp_perf_record *record, uint64_t now_ns)
{
	const struct tp_task_tree_task *task = tp_task_tree_find(watch->tree, item->tid);
	uint64_t n_news = watch->stacks->others.n_news;
	item->n_samples++;
	item->n_stale++;
	if (!task || task->info.id != item->task || now_ns - record->time_ns > LATE_NS)
		return;
	tp_perf_callchain_remember(watch->stacks, task, &record->of.sample);
	if (watch->stacks->others.n_news == n_news)
		return;
	item->n_stale = 0;
	item->has_reported = true;
}

static void watched_read(struct tp_switched_stack_watch *watch,
			 struct tp_switched_stack_watched *item)
{
	const struct tp_perf_layout layout = {.has_stack = true};
	struct tp_perf_record record;
	const void *bytes;
	size_t size;
	while ((bytes = tp_perf_ring_next(&item->ring, &size)))
		if (tp_perf_record_decode(&record, bytes, size, &layout) &&
		    record.type == PERF_RECORD_SAMPLE)
			remember(watch, item, &record, tp_clock_now_ns());
	tp_perf_ring_consume(&item->ring);
	uint64_t period_ns = draw_period(watch, item);
	ioctl(item->fd, PERF_EVENT_IOC_PERIOD, &period_ns);
}

/* A thread that has ended would wake us forever. */
static void remove_ended(const struct tp_switched_stack_watch *watch)
{
	struct epoll_event events[WATCHED_MAX];
	int n = epoll_wait(watch->epoll_fd, events, WATCHED_MAX, 0);
	for (int i = 0; i < n; i++)
		if (events[i].events & (EPOLLHUP | EPOLLERR))
			epoll_ctl(watch->epoll_fd, EPOLL_CTL_DEL, events[i].data.fd, NULL);
}

void tp_switched_stack_watch_read(struct tp_switched_stack_watch *watch)
{
	for (size_t i = 0; i < watch->n; i++)
		if (tp_perf_ring_refresh(&watch->items[i].ring) > 0)
			watched_read(watch, &watch->items[i]);
	if (watch->n > 0)
		remove_ended(watch);
}

/* ---- threads ---- */

static bool is_watched(const struct tp_switched_stack_watch *watch, uint32_t task)
{
	for (size_t i = 0; i < watch->n; i++)
		if (watch->items[i].task == task)
			return true;
	return false;
}

/* Watches one more thread; on failure its callers stay unknown. */
static void watched_open(struct tp_switched_stack_watch *watch,
			 const struct tp_task_tree_task *task)
{
	const struct tp_perf_setup setup = {.stack_bytes = STACK_BYTES};
	struct tp_switched_stack_watched item = {.task = task->info.id, .tid = task->info.tid};
	item.fd = tp_perf_open_thread(item.tid, &setup, draw_period(watch, &item));
	struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = item.fd};
	if (item.fd >= 0 && tp_perf_ring_map(&item.ring, item.fd, RING_PAGES) == 0 &&
	    epoll_ctl(watch->epoll_fd, EPOLL_CTL_ADD, item.fd, &event) == 0) {
		TP_ARRAY_PUSH(watch->items, watch->n, watch->capacity) = item;
		return;
	}
	tp_debug("thread %d is not watched: %s", (int)item.tid, tp_errno_text(errno));
	if (item.ring.page)
		tp_perf_ring_unmap(&item.ring);
	if (item.fd >= 0)
		close(item.fd);
}

static void close_stale(struct tp_switched_stack_watch *watch, uint64_t now_ns)
{
	size_t n_kept = 0;
	for (size_t i = 0; i < watch->n; i++) {
		struct tp_switched_stack_watched *item = &watch->items[i];
		const struct tp_task_tree_task *task = tp_task_tree_find(watch->tree, item->tid);
		bool is_there = task && task->info.id == item->task;
		if (is_there && item->n_stale < STALE_SAMPLES_MAX) {
			watch->items[n_kept++] = *item;
			continue;
		}
		if (is_there && !item->has_reported)
			tp_map_set(&watch->rests_ns, item->task, now_ns + REST_NS);
		watched_close(item);
	}
	watch->n = n_kept;
}

void tp_switched_stack_watch_update(struct tp_switched_stack_watch *watch, uint64_t now_ns)
{
	struct tp_switched_stack *others = &watch->stacks->others;
	close_stale(watch, now_ns);
	for (size_t i = 0; i < others->n_wanted && watch->n < WATCHED_MAX; i++) {
		const struct tp_task_tree_task *task =
			tp_task_tree_find(watch->tree, others->wanted[i]);
		uint64_t until_ns = 0;
		if (!task || is_watched(watch, task->info.id) ||
		    (tp_map_get(&watch->rests_ns, task->info.id, &until_ns) && now_ns < until_ns))
			continue;
		watched_open(watch, task);
	}
	others->n_wanted = 0;
}
