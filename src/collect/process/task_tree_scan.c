/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the target's threads in /proc: the only way without perf, a correction with it. */
#include "procfs_stat.h"
#include "task_tree.h"
#include "task_tree_entry.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/collect/helper_process.h"
#include "trainprof/collect/host_info.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Threads are listed at every scan; work that reads a file per thread is done at this interval. */
#define SEARCH_PERIOD_NS (100 * TP_NS_PER_MS)
/* Reading the stat of every process of the machine takes milliseconds. */
#define SEARCH_ALL_PERIOD_NS (500 * TP_NS_PER_MS)

enum { PATH_SIZE = 4096 };

/* The processes still to scan; the list grows during the scan. */
struct tree_scan {
	struct tp_task_tree *tree;
	uint64_t now_ns;
	bool searches; /* for children, in this scan */
	pid_t *pids;
	size_t n_pids;
	size_t pids_capacity;
	struct tp_map met; /* pids queued */
	size_t n_added;
};

static void scan_queue(struct tree_scan *scan, pid_t pid)
{
	if (pid <= 0 || tp_map_get(&scan->met, (uint64_t)pid, NULL))
		return;
	if (scan->tree->is_attached && scan->tree->host->is_live && pid == getpid())
		return; /* attached to the shell that started us */
	tp_map_set(&scan->met, (uint64_t)pid, 1);
	TP_ARRAY_PUSH(scan->pids, scan->n_pids, scan->pids_capacity) = pid;
}

/* Not after the scan, which took its time earlier. */
static uint64_t start_time_ns(const struct tree_scan *scan, uint64_t start_ticks)
{
	uint64_t time_ns = tp_procfs_start_ns(start_ticks);
	return time_ns < scan->now_ns ? time_ns : scan->now_ns;
}

/* If events report forks, a single sighting is not sufficient: the event may still be pending. */
static bool scan_confirm(struct tree_scan *scan, pid_t tid)
{
	struct tp_task_tree *tree = scan->tree;
	if (!tree->is_fed)
		return true;
	uint64_t seen_in;
	if (tp_map_get(&tree->candidates, (uint64_t)tid, &seen_in) && seen_in < tree->n_scans)
		return true;
	tp_map_set(&tree->candidates, (uint64_t)tid, tree->n_scans);
	return false;
}

static void scan_add(struct tree_scan *scan, pid_t tid, pid_t pid)
{
	struct tp_task_tree *tree = scan->tree;
	struct tp_procfs_stat stat;
	if (!tp_procfs_stat_read(&stat, tree->host, pid, tid) || stat.state == 'Z' ||
	    stat.state == 'X' || !scan_confirm(scan, tid))
		return;
	tp_task_tree_add_found(tree, tid, pid, &stat, start_time_ns(scan, stat.start_ticks));
	scan->n_added++;
}

/* Checks whether a known process is still the same one with the same name. Returns false if it has
 * ended. */
static bool scan_check_leader(struct tree_scan *scan, struct task_tree_entry *entry)
{
	struct tp_task_tree *tree = scan->tree;
	struct tp_task *info = &entry->task.info;
	struct tp_procfs_stat stat;
	if (!tp_procfs_stat_read(&stat, tree->host, info->pid, 0))
		return false;
	if (entry->start_ticks && entry->start_ticks != stat.start_ticks)
		return false;
	entry->start_ticks = stat.start_ticks;
	if (stat.utime_ns >= info->utime_ns && stat.stime_ns >= info->stime_ns) {
		info->utime_ns = stat.utime_ns;
		info->stime_ns = stat.stime_ns;
	}
	if (stat.state == 'Z' || stat.state == 'X')
		return false;
	if (tree->is_fed || tp_sink_string(tree->sink, stat.comm) == info->comm)
		return true;
	tp_task_tree_comm(tree, info->tid, stat.comm);
	tp_task_tree_exec(tree, info->pid, scan->now_ns); /* probably a new program */
	return true;
}

/* Reads /proc/PID/task/TID/children: "12 34 ". Returns false if the kernel does not have it. */
static bool scan_children(struct tree_scan *scan, pid_t pid, pid_t tid)
{
	char relative[80];
	char path[PATH_SIZE];
	struct tp_buf text = {0};
	snprintf(relative, sizeof(relative), "/proc/%d/task/%d/children", (int)pid, (int)tid);
	const char *file = tp_host_path(scan->tree->host, path, sizeof(path), relative);
	if (tp_file_read(&text, file, 1 << 20, NULL) != TP_OK) {
		path[strlen(path) - strlen("/children")] = '\0';
		return access(path, F_OK) != 0; /* the thread is gone, not the file */
	}
	const char *at = tp_buf_text(&text);
	char *end;
	for (long child = strtol(at, &end, 10); end != at; child = strtol(at, &end, 10)) {
		scan_queue(scan, (pid_t)child);
		at = end;
	}
	tp_buf_release(&text);
	return true;
}

static void entry_seen(const struct tp_task_tree *tree, struct task_tree_entry *entry)
{
	entry->seen_in = tree->n_scans;
	entry->n_missed = 0;
}

static void scan_thread(struct tree_scan *scan, pid_t pid, pid_t tid)
{
	struct tp_task_tree *tree = scan->tree;
	struct task_tree_entry *entry = tp_task_tree_entry(tree, tid);
	if (entry && entry->task.info.pid != pid)
		entry = NULL; /* the tid was reused; the old entry is not found and ends */
	else if (!entry)
		scan_add(scan, tid, pid);
	else if (tid != pid || !scan->searches || scan_check_leader(scan, entry))
		entry_seen(tree, entry);
	if (scan->searches && !tree->lacks_children_files && !scan_children(scan, pid, tid))
		tree->lacks_children_files = true;
}

static void scan_process(struct tree_scan *scan, pid_t pid)
{
	char relative[64];
	char path[PATH_SIZE];
	snprintf(relative, sizeof(relative), "/proc/%d/task", (int)pid);
	DIR *dir = opendir(tp_host_path(scan->tree->host, path, sizeof(path), relative));
	if (!dir)
		return;
	scan_thread(scan, pid, pid); /* first, so that its threads find it */
	const struct dirent *item;
	while ((item = readdir(dir))) { /* NOLINT(concurrency-mt-unsafe): a DIR of our own */
		pid_t tid = (pid_t)strtol(item->d_name, NULL, 10);
		if (tid > 0 && tid != pid)
			scan_thread(scan, pid, tid);
	}
	closedir(dir);
}

/* Without children files: scans every process of the machine for parents that are ours. */
static void scan_parents(struct tree_scan *scan)
{
	char path[PATH_SIZE];
	DIR *dir = opendir(tp_host_path(scan->tree->host, path, sizeof(path), "/proc"));
	if (!dir)
		return;
	struct tp_map parents = {0};
	const struct dirent *item;
	while ((item = readdir(dir))) { /* NOLINT(concurrency-mt-unsafe): a DIR of our own */
		struct tp_procfs_stat stat;
		pid_t pid = (pid_t)strtol(item->d_name, NULL, 10);
		if (pid > 0 && tp_procfs_stat_read(&stat, scan->tree->host, pid, 0))
			tp_map_set(&parents, (uint64_t)pid, (uint64_t)stat.ppid);
	}
	closedir(dir);
	size_t before;
	do { /* a child may be listed before its parent is queued */
		before = scan->n_pids;
		size_t cursor = 0;
		uint64_t pid;
		uint64_t parent;
		while (tp_map_next(&parents, &cursor, &pid, &parent))
			if (tp_map_get(&scan->met, parent, NULL))
				scan_queue(scan, (pid_t)pid);
	} while (scan->n_pids != before);
	tp_map_release(&parents);
}

/* Daemons become our own children (PR_SET_CHILD_SUBREAPER); the target is the oldest of them. */
static void scan_own_children(struct tree_scan *scan, pid_t root)
{
	struct tp_procfs_stat target;
	struct tp_procfs_stat stat;
	size_t before = scan->n_pids;
	if (scan->tree->is_attached || !scan->tree->host->is_live ||
	    !tp_procfs_stat_read(&target, scan->tree->host, root, 0) ||
	    !scan_children(scan, getpid(), getpid()))
		return;
	size_t kept = before;
	for (size_t i = before; i < scan->n_pids; i++) {
		pid_t pid = scan->pids[i];
		if (!tp_helper_is_known(pid) &&
		    tp_procfs_stat_read(&stat, scan->tree->host, pid, 0) &&
		    stat.start_ticks > target.start_ticks)
			scan->pids[kept++] = pid;
		else
			tp_map_remove(&scan->met, (uint64_t)pid);
	}
	scan->n_pids = kept;
}

static struct task_tree_entry *next_missed(const struct tp_task_tree *tree)
{
	size_t cursor = 0;
	struct tp_task_tree_task *task;
	while ((task = tp_task_tree_next(tree, &cursor))) {
		struct task_tree_entry *entry =
			(struct task_tree_entry *)task; /* its first member */
		if (entry->seen_in != tree->n_scans)
			return entry;
	}
	return NULL;
}

/* Ends tasks that were not found; if events report ends, only tasks that are missing twice. */
static void scan_end_missed(struct tree_scan *scan)
{
	struct tp_task_tree *tree = scan->tree;
	struct task_tree_entry *entry;
	while ((entry = next_missed(tree))) {
		entry->n_missed++;
		if (!tree->is_fed || entry->n_missed > 1)
			tp_task_tree_end(tree, entry, scan->now_ns);
		else
			entry->seen_in = tree->n_scans;
	}
}

size_t tp_task_tree_scan(struct tp_task_tree *tree, pid_t root, uint64_t now_ns)
{
	if (tree->is_fed && !tree->has_doubt)
		return 0;
	struct tree_scan scan = {.tree = tree, .now_ns = now_ns};
	scan.searches = tree->is_fed || now_ns >= tree->next_search_ns;
	tree->n_scans++;
	scan_queue(&scan, root);
	size_t cursor = 0;
	const struct tp_task_tree_task *task;
	while ((task = tp_task_tree_next(tree, &cursor)))
		scan_queue(&scan, task->info.pid);
	if (scan.searches) {
		scan_own_children(&scan, root);
		if (tree->lacks_children_files)
			scan_parents(&scan);
		tree->next_search_ns = now_ns + (tree->lacks_children_files ? SEARCH_ALL_PERIOD_NS
									    : SEARCH_PERIOD_NS);
	}
	for (size_t i = 0; i < scan.n_pids; i++) /* the list grows meanwhile */
		scan_process(&scan, scan.pids[i]);
	scan_end_missed(&scan);
	tp_map_release(&scan.met);
	free(scan.pids);
	return scan.n_added;
}

size_t tp_task_tree_scan_existing(struct tp_task_tree *tree, pid_t root, uint64_t now_ns)
{
	tree->is_attached = true;
	tree->next_search_ns = 0;
	return tp_task_tree_scan(tree, root, now_ns);
}
