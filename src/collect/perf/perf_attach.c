/* SPDX-License-Identifier: Apache-2.0 */
/* Lists threads and opens events for them until none is left out. */
#include "perf_attach.h"

#include "collect/machine/fd_limit.h"
#include "collect/process/procfs.h"
#include "collect/process/procfs_stat.h"
#include "collect/process/task_tree.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/collect/host_info.h"
#include "trainprof/stack/maps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TP_LOG_DOMAIN "collect"
#include "trainprof/base/log.h"

enum {
	LISTS_MAX = 12, /* two or three suffice, even if 16 threads are born per millisecond */
	/* Each event takes 10 us to open and 2 KiB of the kernel's memory. */
	EVENTS_MAX = 1 << 16,
	/* At least this part is reserved for threads that run Python, for counters and files of
	 * /proc. */
	RESERVE_SHARE = 4,
	RESERVE_MAX = 512,
	PATH_SIZE = 4096,
};

/* Long enough for a busy thread to stand out. */
#define RECENT_NS (100 * TP_NS_PER_MS)

/* A thread and its CPU time: the total, or the part between two readings. */
struct cpu_user {
	struct tp_task_tree_task *task;
	uint64_t run_ns;
};

void tp_perf_attach_release(struct tp_perf_attach *attach)
{
	tp_map_release(&attach->listeners);
	tp_map_release(&attach->ending);
}

static uint64_t events_left(void)
{
	uint64_t left = tp_fd_limit_left(TP_PERF_FDS_RESERVED);
	uint64_t reserve = left / RESERVE_SHARE;
	left -= reserve < RESERVE_MAX ? reserve : RESERVE_MAX;
	return left < EVENTS_MAX ? left : EVENTS_MAX;
}

void tp_perf_attach_plan(struct tp_perf_attach *attach, const struct tp_host *host,
			 struct tp_task_tree *tree, uint32_t n_cpus, struct tp_perf_setup *setup)
{
	uint64_t left = events_left();
	uint64_t n_threads = tp_task_tree_alive(tree);
	uint64_t wanted = n_threads + n_threads / 8 + 1; /* some are born meanwhile */
	*attach = (struct tp_perf_attach){.host = host, .tree = tree};
	n_cpus = n_cpus ? n_cpus : 1;
	if (wanted * n_cpus * 2 > left)
		setup->has_switches = false;
	uint64_t each = (uint64_t)n_cpus * (setup->has_switches ? 2 : 1);
	attach->most = (size_t)(left / each);
}

pid_t tp_perf_attach_first(const struct tp_perf_attach *attach, pid_t target)
{
	size_t cursor = 0;
	const struct tp_task_tree_task *task = tp_task_tree_find(attach->tree, target);
	while (!task || task->info.pid != target) {
		task = tp_task_tree_next(attach->tree, &cursor);
		if (!task)
			return 0;
	}
	return task->info.tid;
}

static uint64_t run_time_ns(const struct tp_perf_attach *attach,
			    const struct tp_task_tree_task *task)
{
	char below[96];
	char path[PATH_SIZE];
	char text[128];
	struct tp_procfs_schedstat stat;
	snprintf(below, sizeof(below), "/proc/%d/task/%d/schedstat", (int)task->info.pid,
		 (int)task->info.tid);
	bool is_read = tp_file_peek(tp_host_path(attach->host, path, sizeof(path), below), text,
				    sizeof(text)) > 0 &&
		       tp_procfs_schedstat(&stat, text);
	return is_read ? stat.run_ns : 0;
}

static int compare_users(const void *a, const void *b)
{
	const struct cpu_user *x = a;
	const struct cpu_user *y = b;
	return (x->run_ns < y->run_ns) - (x->run_ns > y->run_ns);
}

/* Lists all threads without events, those with the most recent CPU time first if `in_order`. */
static struct cpu_user *list_users(const struct tp_perf_attach *attach, bool in_order, size_t *n)
{
	struct cpu_user *users = tp_alloc((tp_task_tree_alive(attach->tree) + 1) * sizeof(*users));
	const struct timespec wait = {.tv_nsec = RECENT_NS};
	size_t cursor = 0;
	struct tp_task_tree_task *task;
	*n = 0;
	while ((task = tp_task_tree_next(attach->tree, &cursor)))
		if (!task->listens_to)
			users[(*n)++].task = task;
	if (!in_order)
		return users;
	for (size_t i = 0; i < *n; i++)
		users[i].run_ns = run_time_ns(attach, users[i].task);
	nanosleep(&wait, NULL);
	for (size_t i = 0; i < *n; i++) {
		uint64_t now_ns = run_time_ns(attach, users[i].task);
		users[i].run_ns = now_ns > users[i].run_ns ? now_ns - users[i].run_ns : 0;
	}
	qsort(users, *n, sizeof(*users), compare_users);
	return users;
}

static bool is_ending(const struct tp_perf_attach *attach, pid_t tid)
{
	return tp_map_get(&attach->ending, (uint64_t)tid, NULL);
}

/* Joins all threads that have no events yet and returns their number, including those that have
 * just ended, because these may have left a child. */
static size_t join_new(struct tp_perf_attach *attach, struct tp_perf_events *events, pid_t first,
		       uint64_t *seed)
{
	size_t n;
	size_t n_tried = 0;
	bool is_short = tp_task_tree_alive(attach->tree) > attach->most;
	struct cpu_user *users = list_users(attach, is_short, &n);
	for (size_t i = 0; i < n && attach->n_joined < attach->most; i++) {
		struct tp_task_tree_task *task = users[i].task;
		pid_t tid = task->info.tid;
		n_tried += !is_ending(attach, tid);
		int failure =
			tp_perf_events_join(events, tid, tid == first, seed, &attach->listeners);
		if (failure == EMFILE || failure == ENFILE || failure == ENOMEM)
			attach->most = attach->n_joined;
		else if (failure == ESRCH)
			tp_map_set(&attach->ending, (uint64_t)tid, 1);
		else if (failure)
			tp_info("thread %d: %s", (int)tid, tp_errno_text(failure));
		if (failure)
			continue;
		task->listens_to = tid;
		attach->n_joined++;
	}
	free(users);
	return n_tried;
}

/* Records contain later mappings, but not the existing ones. */
static void read_maps(const struct tp_perf_attach *attach)
{
	struct tp_map done = {0};
	size_t cursor = 0;
	const struct tp_task_tree_task *task;
	while ((task = tp_task_tree_next(attach->tree, &cursor))) {
		if (tp_map_get(&done, (uint64_t)task->info.pid, NULL))
			continue;
		tp_map_set(&done, (uint64_t)task->info.pid, 1);
		tp_maps_clear(task->maps);
		if (tp_maps_read(task->maps, NULL) != TP_OK)
			tp_maps_clear(task->maps); /* gone already, or access denied */
	}
	tp_map_release(&done);
}

/* A thread that ended before it could be joined was not missed; exiting takes long if other
 * programs use the CPUs. */
static void count_all(struct tp_perf_attach *attach)
{
	size_t cursor = 0;
	const struct tp_task_tree_task *task;
	attach->n_met = attach->n_joined = 0;
	while ((task = tp_task_tree_next(attach->tree, &cursor))) {
		bool is_joined = task->listens_to != 0;
		attach->n_joined += is_joined;
		attach->n_met += is_joined || (!is_ending(attach, task->info.tid) &&
					       tp_procfs_stat_is_alive(attach->host, task->info.pid,
								       task->info.tid));
	}
}

void tp_perf_attach_join(struct tp_perf_attach *attach, struct tp_perf_events *events, pid_t target,
			 pid_t first, uint64_t *seed, void (*drain)(void *context), void *context)
{
	size_t n_new = 1;
	unsigned n_lists = 0;
	while (n_new > 0 && n_lists++ < LISTS_MAX) {
		tp_task_tree_scan_existing(attach->tree, target, tp_clock_now_ns());
		drain(context); /* forks: which thread has which parent */
		n_new = join_new(attach, events, first, seed);
	}
	attach->has_converged = n_new == 0;
	read_maps(attach);
	size_t n_own = attach->n_joined;
	count_all(attach);
	tp_info("%zu of %zu threads joined in %u lists, %zu events of their own", attach->n_joined,
		attach->n_met, n_lists, n_own);
}

void tp_perf_attach_mark_blocked(const struct tp_perf_attach *attach, uint64_t since_ns)
{
	size_t cursor = 0;
	struct tp_task_tree_task *task;
	while ((task = tp_task_tree_next(attach->tree, &cursor))) {
		struct tp_procfs_stat stat;
		if (!task->listens_to || task->where != TP_TASK_TREE_UNKNOWN ||
		    !tp_procfs_stat_read(&stat, attach->host, task->info.pid, task->info.tid) ||
		    stat.state == 'R')
			continue;
		task->where = TP_TASK_TREE_BLOCKED;
		/* Earlier: if it was just about to sleep, its stay began with the records. */
		task->where_since_ns = since_ns - 1;
	}
}
