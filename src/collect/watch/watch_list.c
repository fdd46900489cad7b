/* SPDX-License-Identifier: Apache-2.0 */
/* Sets breakpoints, passes their hits on, and removes them in time. */
#include "watch_list.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

void tp_watch_list_init(struct tp_watch_list *list, const struct tp_task_tree *tree,
			const struct tp_breakpoint_system *system, double cost_ns, double max_ratio)
{
	*list = (struct tp_watch_list){.tree = tree,
				       .system = system,
				       .cost_ns = cost_ns,
				       .max_ratio = max_ratio};
	list->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
}

static void account(struct tp_watch_list *list, struct tp_watch *watch)
{
	list->n_lost += watch->breakpoint.n_lost;
	tp_breakpoint_close(&watch->breakpoint);
	watch->is_used = false;
}

void tp_watch_list_release(struct tp_watch_list *list)
{
	for (size_t i = 0; i < TP_WATCHES_MAX; i++)
		if (list->watches[i].is_used)
			account(list, &list->watches[i]);
	if (list->epoll_fd >= 0)
		close(list->epoll_fd);
	list->epoll_fd = -1;
}

double tp_watch_list_rate_max_hz(const struct tp_watch_list *list)
{
	return list->cost_ns > 0 ? list->max_ratio * 1e9 / list->cost_ns : 0;
}

static struct tp_watch *find_room(struct tp_watch_list *list, uint32_t task)
{
	struct tp_watch *room = NULL;
	size_t n_of_task = 0;
	for (size_t i = 0; i < TP_WATCHES_MAX; i++) {
		if (!list->watches[i].is_used)
			room = &list->watches[i];
		else
			n_of_task += list->watches[i].task == task;
	}
	return n_of_task < TP_WATCHES_PER_THREAD ? room : NULL;
}

struct tp_watch *tp_watch_list_open(struct tp_watch_list *list,
				    const struct tp_task_tree_task *task,
				    const struct tp_breakpoint_place *place, uint64_t now_ns,
				    tp_watch_fn *fn, void *context)
{
	struct tp_watch *watch = find_room(list, task->info.id);
	if (!watch)
		return NULL;
	*watch = (struct tp_watch){.task = task->info.id,
				   .tid = task->info.tid,
				   .pid = task->info.pid,
				   .exec_ns = task->info.exec_ns,
				   .address = place->address,
				   .is_call = place->is_call,
				   .opened_ns = now_ns,
				   .fn = fn,
				   .context = context};
	int failure = tp_breakpoint_open(&watch->breakpoint, list->system, place);
	if (failure) {
		list->failure = failure;
		return NULL;
	}
	/* Without wake-ups the hits are read in the next period: later, but completely. */
	struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = watch->breakpoint.fd};
	if (list->epoll_fd >= 0)
		(void)epoll_ctl(list->epoll_fd, EPOLL_CTL_ADD, watch->breakpoint.fd, &event);
	watch->is_used = true;
	list->n_opened++;
	return watch;
}

static void on_hit(void *context, uint64_t time_ns, uint64_t number)
{
	struct tp_watch *watch = context;
	watch->last_ns[number % TP_WATCH_RATE_HITS] = time_ns;
	watch->fn(watch->context, watch, time_ns, number);
}

static void read_hits(struct tp_watch_list *list, struct tp_watch *watch)
{
	list->n_hits += tp_breakpoint_drain(&watch->breakpoint, on_hit, watch);
}

static void end(struct tp_watch_list *list, struct tp_watch *watch, enum tp_watch_end why)
{
	watch->end = why;
	list->n_too_fast += why == TP_WATCH_TOO_FAST;
	account(list, watch);
	watch->fn(watch->context, watch, 0, 0);
}

void tp_watch_list_close(struct tp_watch_list *list, struct tp_watch *watch)
{
	read_hits(list, watch);
	end(list, watch, TP_WATCH_CLOSED);
}

static bool has_ended(const struct tp_watch_list *list, const struct tp_watch *watch)
{
	const struct tp_task_tree_task *task = tp_task_tree_find(list->tree, watch->tid);
	const struct tp_task_tree_task *leader = tp_task_tree_find(list->tree, watch->pid);
	return !task || task->info.id != watch->task ||
	       (watch->tid == watch->pid && leader && leader->info.exec_ns != watch->exec_ns);
}

/* True if the last TP_WATCH_RATE_HITS hits came too fast. Lost hits came too fast for the ring. */
static bool is_too_fast(const struct tp_watch_list *list, const struct tp_watch *watch)
{
	uint64_t n = watch->breakpoint.n_hits;
	if (watch->breakpoint.n_lost > 0)
		return true;
	if (n < TP_WATCH_RATE_HITS)
		return false;
	uint64_t newest_ns = watch->last_ns[n % TP_WATCH_RATE_HITS];
	uint64_t oldest_ns = watch->last_ns[(n + 1) % TP_WATCH_RATE_HITS];
	double between_ns = (double)(newest_ns - oldest_ns);
	return between_ns * list->max_ratio < list->cost_ns * (TP_WATCH_RATE_HITS - 1);
}

/* Consumes the events of the descriptors, so that they are reported again and dead threads are
 * not. */
static void reset_epoll(const struct tp_watch_list *list)
{
	struct epoll_event events[TP_WATCHES_MAX];
	int n = epoll_wait(list->epoll_fd, events, TP_WATCHES_MAX, 0);
	for (int i = 0; i < n; i++)
		if (events[i].events & (EPOLLHUP | EPOLLERR))
			epoll_ctl(list->epoll_fd, EPOLL_CTL_DEL, events[i].data.fd, NULL);
}

void tp_watch_list_drain(struct tp_watch_list *list)
{
	for (size_t i = 0; i < TP_WATCHES_MAX; i++) {
		struct tp_watch *watch = &list->watches[i];
		if (!watch->is_used)
			continue;
		read_hits(list, watch);
		if (has_ended(list, watch))
			end(list, watch, TP_WATCH_ENDED);
		else if (is_too_fast(list, watch))
			end(list, watch, TP_WATCH_TOO_FAST);
	}
	if (list->epoll_fd >= 0)
		reset_epoll(list);
}
