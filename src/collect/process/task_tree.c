/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the target's threads: forks, execs, names and exits, one record for each. */
#include "task_tree.h"

#include "procfs_stat.h"
#include "task_tree_entry.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/clock.h"
#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/secret.h"
#include "trainprof/collect/host_info.h"
#include "trainprof/model/job_place.h"
#include "trainprof/stack/maps.h"
#include "trainprof/stack/modules.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, CMDLINE_MAX = 4096 };

/* Maps store numbers; converts a pointer to one and back without change. */
static uint64_t number_of(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

static struct task_tree_entry *entry_of(uint64_t number)
{
	return (struct task_tree_entry *)(uintptr_t)number;
}

static struct task_tree_process *process_of(uint64_t number)
{
	return (struct task_tree_process *)(uintptr_t)number;
}

static const char *own_variable(const void *context, const char *name)
{
	(void)context;
	return getenv(name); /* NOLINT(concurrency-mt-unsafe): nobody sets it */
}

struct tp_task_tree *tp_task_tree_new(const struct tp_host *host, struct tp_sink *sink)
{
	struct tp_task_tree *tree = tp_alloc(sizeof(*tree));
	tree->host = host;
	tree->sink = sink;
	tree->modules = tp_modules_new();
	struct tp_arena arena = {0};
	struct tp_job_place place;
	tree->is_in_rank = tp_job_place_find(&place, own_variable, NULL, &arena);
	tp_arena_release(&arena);
	return tree;
}

struct tp_modules *tp_task_tree_modules(const struct tp_task_tree *tree)
{
	return tree->modules;
}

void tp_task_tree_set_stages(struct tp_task_tree *tree, struct tp_stage_clock *stages)
{
	tree->stages = stages;
}

struct tp_stage_clock *tp_task_tree_stages(const struct tp_task_tree *tree)
{
	return tree->stages;
}

static void process_free(struct task_tree_process *process)
{
	tp_maps_free(process->maps);
	free(process);
}

static void entry_free(struct tp_task_tree *tree, struct task_tree_entry *entry)
{
	if (tree->release && entry->task.poll_state)
		tree->release(entry->task.poll_state);
	free(entry);
}

void tp_task_tree_free(struct tp_task_tree *tree)
{
	if (!tree)
		return;
	size_t cursor = 0;
	uint64_t key;
	uint64_t value;
	while (tp_map_next(&tree->entries, &cursor, &key, &value))
		entry_free(tree, entry_of(value));
	cursor = 0;
	while (tp_map_next(&tree->processes, &cursor, &key, &value))
		process_free(process_of(value));
	tp_modules_free(tree->modules);
	tp_map_release(&tree->entries);
	tp_map_release(&tree->processes);
	tp_map_release(&tree->ended);
	tp_map_release(&tree->candidates);
	free(tree);
}

void tp_task_tree_set_keeps_arguments(struct tp_task_tree *tree, bool keeps_arguments)
{
	tree->keeps_arguments = keeps_arguments;
}

void tp_task_tree_set_has_events(struct tp_task_tree *tree, bool is_fed)
{
	tree->is_fed = is_fed;
}

void tp_task_tree_mark_stale(struct tp_task_tree *tree)
{
	tree->has_doubt = true;
}

void tp_task_tree_set_release(struct tp_task_tree *tree, void (*release)(void *poll_state))
{
	tree->release = release;
}

void tp_task_tree_add_listener(struct tp_task_tree *tree, void (*polled)(void *context),
			       void *context)
{
	assert(tree->n_listeners < TP_TASK_TREE_LISTENERS);
	tree->listeners[tree->n_listeners++] = (struct task_tree_listener){polled, context};
}

void tp_task_tree_remove_listener(struct tp_task_tree *tree, const void *context)
{
	size_t n_kept = 0;
	for (size_t i = 0; i < tree->n_listeners; i++)
		if (tree->listeners[i].context != context)
			tree->listeners[n_kept++] = tree->listeners[i];
	tree->n_listeners = n_kept;
}

void tp_task_tree_notify_poll(const struct tp_task_tree *tree)
{
	for (size_t i = 0; i < tree->n_listeners; i++)
		tree->listeners[i].polled(tree->listeners[i].context);
}

static struct task_tree_process *process_find(const struct tp_task_tree *tree, pid_t pid)
{
	uint64_t value;
	return tp_map_get(&tree->processes, (uint64_t)pid, &value) ? process_of(value) : NULL;
}

/* A new process has its parent's program and address space until it execs. */
static struct task_tree_process *process_add(struct tp_task_tree *tree, pid_t pid,
					     const struct task_tree_process *parent)
{
	struct task_tree_process *process = tp_alloc(sizeof(*process));
	process->pid = pid;
	if (parent) {
		process->exe = parent->exe;
		process->cmdline = parent->cmdline;
		process->maps = tp_maps_fork(parent->maps, pid);
	} else {
		process->maps = tp_maps_new(tree->modules, pid);
	}
	tp_map_set(&tree->processes, (uint64_t)pid, number_of(process));
	return process;
}

static void process_leave(struct tp_task_tree *tree, struct task_tree_process *process)
{
	if (--process->n_alive > 0)
		return;
	tp_map_remove(&tree->processes, (uint64_t)process->pid);
	process_free(process);
}

struct task_tree_entry *tp_task_tree_entry(const struct tp_task_tree *tree, pid_t tid)
{
	uint64_t value;
	return tp_map_get(&tree->entries, (uint64_t)tid, &value) ? entry_of(value) : NULL;
}

struct tp_task_tree_task *tp_task_tree_find(const struct tp_task_tree *tree, pid_t tid)
{
	struct task_tree_entry *entry = tp_task_tree_entry(tree, tid);
	return entry ? &entry->task : NULL;
}

uint32_t tp_task_tree_task_at(const struct tp_task_tree *tree, pid_t tid, pid_t pid,
			      uint64_t time_ns)
{
	const struct task_tree_entry *entry = tp_task_tree_entry(tree, tid);
	if (entry && entry->task.info.pid == pid && entry->task.info.start_ns <= time_ns)
		return entry->task.info.id;
	uint64_t ended;
	if (tp_map_get(&tree->ended, (uint64_t)tid, &ended) && (pid_t)(ended >> 32) == pid)
		return (uint32_t)ended;
	return TP_NO_TASK;
}

struct tp_task_tree_task *tp_task_tree_next(const struct tp_task_tree *tree, size_t *cursor)
{
	uint64_t key;
	uint64_t value;
	return tp_map_next(&tree->entries, cursor, &key, &value) ? &entry_of(value)->task : NULL;
}

bool tp_task_tree_next_ended(const struct tp_task_tree *tree, pid_t pid, uint64_t since_ns,
			     size_t *cursor, pid_t *tid)
{
	while (*cursor < TP_TASK_TREE_RECENT && *cursor < tree->n_ends) {
		const struct task_tree_end *end = &tree->recent[(*cursor)++];
		*tid = end->tid;
		if (end->pid == pid && end->tid != pid && end->time_ns >= since_ns)
			return true;
	}
	return false;
}

size_t tp_task_tree_alive(const struct tp_task_tree *tree)
{
	return tree->entries.n;
}

static struct task_tree_entry *entry_add(struct tp_task_tree *tree, pid_t tid, pid_t pid,
					 const struct task_tree_entry *parent, uint64_t time_ns)
{
	struct task_tree_entry *entry = tp_alloc(sizeof(*entry));
	struct tp_task_tree_task *task = &entry->task;
	entry->process = process_find(tree, pid);
	if (!entry->process)
		entry->process = process_add(tree, pid, parent ? parent->process : NULL);
	entry->process->n_alive++;
	task->is_alive = true;
	task->where_since_ns = time_ns;
	task->info.id = tree->n_tasks++;
	task->info.tid = tid;
	task->info.pid = pid;
	task->info.parent = TP_NO_TASK;
	task->info.start_ns = time_ns;
	if (parent) { /* the kernel copies the name as well */
		task->info.parent = parent->task.info.id;
		task->info.comm = parent->task.info.comm;
	}
	task->maps = entry->process->maps;
	if (tid == pid) {
		task->info.exe = entry->process->exe;
		task->info.cmdline = entry->process->cmdline;
	}
	tp_map_set(&tree->entries, (uint64_t)tid, number_of(entry));
	tp_map_remove(&tree->candidates, (uint64_t)tid);
	return entry;
}

void tp_task_tree_end(struct tp_task_tree *tree, struct task_tree_entry *entry, uint64_t time_ns)
{
	struct tp_task *info = &entry->task.info;
	struct tp_procfs_stat stat;
	/* A zombie's CPU time is final; if the process is not a zombie, the pid was reused. */
	if (info->tid == info->pid && tp_procfs_stat_read(&stat, tree->host, info->pid, 0) &&
	    (stat.state == 'Z' || stat.state == 'X') && stat.utime_ns >= info->utime_ns &&
	    stat.stime_ns >= info->stime_ns) {
		info->utime_ns = stat.utime_ns;
		info->stime_ns = stat.stime_ns;
	}
	info->end_ns = time_ns > info->start_ns ? time_ns : info->start_ns;
	tp_sink_task(tree->sink, info);
	tp_map_set(&tree->ended, (uint64_t)info->tid, (uint64_t)info->pid << 32 | info->id);
	tree->recent[tree->n_ends++ % TP_TASK_TREE_RECENT] =
		(struct task_tree_end){info->tid, info->pid, info->end_ns};
	tp_map_remove(&tree->entries, (uint64_t)info->tid);
	process_leave(tree, entry->process);
	entry_free(tree, entry);
}

struct tp_task_tree_task *tp_task_tree_fork(struct tp_task_tree *tree, pid_t tid, pid_t pid,
					    pid_t parent_tid, uint64_t time_ns)
{
	struct task_tree_entry *parent = parent_tid ? tp_task_tree_entry(tree, parent_tid) : NULL;
	struct task_tree_entry *entry = tp_task_tree_entry(tree, tid);
	if (entry && entry->is_scanned && entry->task.info.pid == pid) {
		entry->is_scanned = false; /* found in /proc before its event was read */
		if (parent)
			entry->task.info.parent = parent->task.info.id;
		entry->task.info.start_ns = time_ns;
	} else {
		if (entry) /* its end event was lost */
			tp_task_tree_end(tree, entry, time_ns);
		if (parent == entry)
			parent = NULL;
		entry = entry_add(tree, tid, pid, parent, time_ns);
	}
	tp_sink_task(tree->sink, &entry->task.info);
	return &entry->task;
}

/* Returns the file that a process runs; 0 if the process is gone or belongs to another user. */
static uint32_t read_exe(struct tp_task_tree *tree, pid_t pid)
{
	char relative[64];
	char path[PATH_SIZE];
	char target[PATH_SIZE];
	snprintf(relative, sizeof(relative), "/proc/%d/exe", (int)pid);
	ssize_t len = readlink(tp_host_path(tree->host, path, sizeof(path), relative), target,
			       sizeof(target) - 1);
	if (len <= 0)
		return 0;
	target[len] = '\0';
	return tp_sink_string(tree->sink, target);
}

/* Returns the arguments joined by blanks, cut to CMDLINE_MAX. */
static uint32_t read_cmdline(struct tp_task_tree *tree, pid_t pid)
{
	char relative[64];
	char path[PATH_SIZE];
	char text[CMDLINE_MAX];
	snprintf(relative, sizeof(relative), "/proc/%d/cmdline", (int)pid);
	long len = tp_file_peek(tp_host_path(tree->host, path, sizeof(path), relative), text,
				sizeof(text));
	if (len <= 0)
		return 0;
	struct tp_buf line = {0};
	struct tp_secret_scan scan = {0};
	for (long at = 0; at < len; at += (long)strlen(text + at) + 1) {
		if (at)
			tp_buf_putc(&line, ' ');
		if (tree->keeps_arguments)
			tp_buf_puts(&line, text + at);
		else
			tp_secret_add_argument(&line, &scan, text + at);
	}
	while (line.len && line.data[line.len - 1] == ' ')
		line.data[--line.len] = '\0';
	uint32_t id = tp_sink_string(tree->sink, tp_buf_text(&line));
	tp_buf_release(&line);
	return id;
}

/* The environment of a process: variables one after the other, each terminated by NUL. */
static const char *process_variable(const void *context, const char *name)
{
	const struct tp_buf *all = context;
	size_t len = strlen(name);
	for (size_t at = 0; at < all->len; at += strnlen(all->data + at, all->len - at) + 1)
		if (strncmp(all->data + at, name, len) == 0 && all->data[at + len] == '=')
			return all->data + at + len + 1;
	return NULL;
}

/* Emits the process's rank if a launcher is part of what is measured. */
static void put_rank(struct tp_task_tree *tree, const struct task_tree_entry *entry)
{
	enum { VARIABLES_MAX = 1 << 18 };
	char relative[64];
	char path[PATH_SIZE];
	struct tp_buf variables = {0};
	struct tp_arena arena = {0};
	struct tp_job_place place;
	uint32_t task = entry->task.info.id;
	if (tree->is_in_rank)
		return;
	snprintf(relative, sizeof(relative), "/proc/%d/environ", (int)entry->task.info.pid);
	if (tp_file_read(&variables, tp_host_path(tree->host, path, sizeof(path), relative),
			 VARIABLES_MAX, NULL) == TP_OK &&
	    tp_job_place_find(&place, process_variable, &variables, &arena)) {
		uint64_t now_ns = tp_clock_now_ns();
		tp_sink_gauge(tree->sink, TP_METRIC_PROC_RANK, task, now_ns, (double)place.rank);
		tp_sink_gauge(tree->sink, TP_METRIC_PROC_RANKS, task, now_ns,
			      (double)place.n_ranks);
	}
	tp_arena_release(&arena);
	tp_buf_release(&variables);
}

/* Reads a leader's program; what cannot be read stays as inherited. */
static void entry_read_image(struct tp_task_tree *tree, struct task_tree_entry *entry)
{
	struct task_tree_process *process = entry->process;
	uint32_t exe = read_exe(tree, process->pid);
	uint32_t cmdline = read_cmdline(tree, process->pid);
	process->exe = exe ? exe : process->exe;
	process->cmdline = cmdline ? cmdline : process->cmdline;
	entry->task.info.exe = process->exe;
	entry->task.info.cmdline = process->cmdline;
}

struct task_tree_entry *tp_task_tree_add_found(struct tp_task_tree *tree, pid_t tid, pid_t pid,
					       const struct tp_procfs_stat *stat, uint64_t start_ns)
{
	struct task_tree_entry *parent = tp_task_tree_entry(tree, tid == pid ? stat->ppid : pid);
	struct task_tree_entry *entry = entry_add(tree, tid, pid, parent, start_ns);
	entry->is_scanned = true;
	entry->start_ticks = stat->start_ticks;
	entry->seen_in = tree->n_scans;
	entry->task.info.comm = tp_sink_string(tree->sink, stat->comm);
	if (tid == pid)
		entry_read_image(tree, entry);
	struct tp_maps *maps = entry->process->maps;
	if (tid == pid && tree->is_fed && tp_maps_read(maps, NULL) != TP_OK)
		tp_maps_clear(maps); /* gone already, or access denied */
	tp_sink_task(tree->sink, &entry->task.info);
	if (tid == pid)
		put_rank(tree, entry);
	return entry;
}

/* An exec ends all threads but one, and that one takes over the leader's tid. */
static void end_other_threads(struct tp_task_tree *tree, pid_t pid, uint64_t time_ns)
{
	struct task_tree_process *process = process_find(tree, pid);
	struct task_tree_entry *leader = tp_task_tree_entry(tree, pid);
	while (process && process->n_alive > (leader ? 1u : 0u)) {
		size_t cursor = 0;
		struct tp_task_tree_task *task = tp_task_tree_next(tree, &cursor);
		while (task && (task->info.pid != pid || task->info.tid == pid))
			task = tp_task_tree_next(tree, &cursor);
		if (!task)
			return;
		bool is_last = process->n_alive == 1;
		tp_task_tree_end(tree, tp_task_tree_entry(tree, task->info.tid), time_ns);
		if (is_last)
			return;
	}
}

void tp_task_tree_exec(struct tp_task_tree *tree, pid_t pid, uint64_t time_ns)
{
	end_other_threads(tree, pid, time_ns);
	struct task_tree_entry *entry = tp_task_tree_entry(tree, pid);
	if (!entry)
		entry = entry_add(tree, pid, pid, NULL, time_ns);
	entry_read_image(tree, entry);
	tp_maps_clear(entry->process->maps);
	entry->task.info.exec_ns = time_ns;
	tp_sink_task(tree->sink, &entry->task.info);
	put_rank(tree, entry);
}

void tp_task_tree_comm(struct tp_task_tree *tree, pid_t tid, const char *comm)
{
	struct task_tree_entry *entry = tp_task_tree_entry(tree, tid);
	uint32_t id = tp_sink_string(tree->sink, comm);
	if (!entry || entry->task.info.comm == id)
		return;
	entry->task.info.comm = id;
	tp_sink_task(tree->sink, &entry->task.info);
}

void tp_task_tree_exit(struct tp_task_tree *tree, pid_t tid, uint64_t time_ns)
{
	struct task_tree_entry *entry = tp_task_tree_entry(tree, tid);
	if (entry)
		tp_task_tree_end(tree, entry, time_ns);
}
