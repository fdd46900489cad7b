/* SPDX-License-Identifier: Apache-2.0 */
/* The target's threads while it runs: which exist, where each one is now, and which address space
 * it has. Updated from perf records if there are any, from /proc otherwise; used by all
 * collectors. */
#ifndef TRAINPROF_SRC_COLLECT_PROCESS_TASK_TREE_H
#define TRAINPROF_SRC_COLLECT_PROCESS_TASK_TREE_H

#include "trainprof/model/sink.h"
#include "trainprof/model/task.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tp_maps; /* trainprof/stack/modules.h */
struct tp_host;
struct tp_stage_clock;

enum tp_task_tree_where {
	TP_TASK_TREE_UNKNOWN, /* no switch records: ask /proc */
	TP_TASK_TREE_ON_CPU,
	TP_TASK_TREE_PREEMPTED,
	TP_TASK_TREE_BLOCKED,
};

struct tp_task_tree_task {
	struct tp_task info; /* as last emitted */
	bool is_alive;
	enum tp_task_tree_where where;
	uint32_t cpu; /* where it is, or was last */
	uint64_t where_since_ns;
	enum tp_task_tree_where ahead; /* as of ahead_ns; see tp_task_tree_current() */
	uint64_t ahead_ns;
	uint64_t n_runs;      /* stays on a CPU so far: unchanged = it has not run since */
	uint64_t n_births;    /* children that it has created: threads and processes */
	struct tp_maps *maps; /* shared by the threads of a process; owned by the tree */
	pid_t listens_to;     /* thread whose events report it (perf_attach.h); 0 = any */
	uint64_t followed_ns; /* time since which it has its own event (python_sampling.h); 0 = it
				 has none */
	void *poll_state;     /* owned by the poller, see tp_task_tree_set_release() */
};

/* Where the task is at this moment, as far as records that were only peeked at show it. */
static inline enum tp_task_tree_where tp_task_tree_current(const struct tp_task_tree_task *task)
{
	return task->ahead_ns > task->where_since_ns ? task->ahead : task->where;
}

/* Start time of that state. */
static inline uint64_t tp_task_tree_current_ns(const struct tp_task_tree_task *task)
{
	return task->ahead_ns > task->where_since_ns ? task->ahead_ns : task->where_since_ns;
}

struct tp_task_tree;

struct tp_task_tree *tp_task_tree_new(const struct tp_host *host, struct tp_sink *sink);
void tp_task_tree_free(struct tp_task_tree *tree);
/* Keeps command lines unchanged; otherwise secrets in them are masked. */
void tp_task_tree_set_keeps_arguments(struct tp_task_tree *tree, bool keeps_arguments);

/* Stage times of the tree's owner; borrowed, NULL by default. */
void tp_task_tree_set_stages(struct tp_task_tree *tree, struct tp_stage_clock *stages);
struct tp_stage_clock *tp_task_tree_stages(const struct tp_task_tree *tree);

/* Called by a collector whose events report every fork and exit: from now on a scan only corrects
 * what two consecutive scans contradict, and only after tp_task_tree_mark_stale(). */
void tp_task_tree_set_has_events(struct tp_task_tree *tree, bool is_fed);
/* Events were lost, or a process has escaped them. */
void tp_task_tree_mark_stale(struct tp_task_tree *tree);

/* The files that the target's processes map; borrowed, lives as long as the tree. */
struct tp_modules *tp_task_tree_modules(const struct tp_task_tree *tree);

/* Called with a task's poll_state when the task ends or the tree is freed. */
void tp_task_tree_set_release(struct tp_task_tree *tree, void (*release)(void *poll_state));

/* Listeners are called when a poll begins, at a time that is independent of the target, in the
 * order in which they were added; at most TP_TASK_TREE_LISTENERS. */
enum { TP_TASK_TREE_LISTENERS = 2 };
void tp_task_tree_add_listener(struct tp_task_tree *tree, void (*polled)(void *context),
			       void *context);
void tp_task_tree_remove_listener(struct tp_task_tree *tree, const void *context);
void tp_task_tree_notify_poll(const struct tp_task_tree *tree);

/* Events; each emits the task's record. If a tid is reused, a new task is created. parent_tid is 0
 * for the target itself. The position of a new task stays TP_TASK_TREE_UNKNOWN. */
struct tp_task_tree_task *tp_task_tree_fork(struct tp_task_tree *tree, pid_t tid, pid_t pid,
					    pid_t parent_tid, uint64_t time_ns);
/* Re-reads exe and cmdline, empties the maps, ends the other threads. */
void tp_task_tree_exec(struct tp_task_tree *tree, pid_t pid, uint64_t time_ns);
void tp_task_tree_comm(struct tp_task_tree *tree, pid_t tid, const char *comm);
void tp_task_tree_exit(struct tp_task_tree *tree, pid_t tid, uint64_t time_ns);

/* Borrowed until the next event; NULL if no live task has that tid. */
struct tp_task_tree_task *tp_task_tree_find(const struct tp_task_tree *tree, pid_t tid);
/* Returns the id of the task that had this tid at that time, even if it has ended since; TP_NO_TASK
 * if none is known. */
uint32_t tp_task_tree_task_at(const struct tp_task_tree *tree, pid_t tid, pid_t pid,
			      uint64_t time_ns);
/* Iterates over live tasks in unspecified order: *cursor starts at 0; NULL at the end. */
struct tp_task_tree_task *tp_task_tree_next(const struct tp_task_tree *tree, size_t *cursor);
/* The same for threads of a process that have ended since then, except first ones; false at the
 * end. The last TP_TASK_TREE_RECENT tasks that ended are known. */
enum { TP_TASK_TREE_RECENT = 256 };
bool tp_task_tree_next_ended(const struct tp_task_tree *tree, pid_t pid, uint64_t since_ns,
			     size_t *cursor, pid_t *tid);
size_t tp_task_tree_alive(const struct tp_task_tree *tree);

/* Compares with /proc: adds missing tasks, ends tasks that are gone. Without perf at every poll;
 * with perf as a slow check (every second). Returns how many were added. */
size_t tp_task_tree_scan(struct tp_task_tree *tree, pid_t root, uint64_t now_ns);
/* The same for a target that already runs, before events update the tree: adds all that exists now,
 * except ourselves. From then on our own children do not belong to the target. */
size_t tp_task_tree_scan_existing(struct tp_task_tree *tree, pid_t root, uint64_t now_ns);

#endif
