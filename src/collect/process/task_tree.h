/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The target's threads while it runs: who exists, where each one is now, whose address space it
 * has. Fed by perf records where there are any, by /proc otherwise; read by all collectors.
 */
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
	struct tp_task info; /* as last put into the sink */
	bool is_alive;
	enum tp_task_tree_where where;
	uint32_t cpu; /* where it is, or was last */
	uint64_t where_since_ns;
	enum tp_task_tree_where ahead; /* as of ahead_ns; see tp_task_tree_current() */
	uint64_t ahead_ns;
	uint64_t n_runs;      /* stays on a CPU so far: unchanged = it has not run since */
	uint64_t n_births;    /* children that it has made: threads and processes */
	struct tp_maps *maps; /* shared by the threads of a process; owned by the tree */
	pid_t listens_to;     /* whose events tell of it (perf_attach.h); 0 = any */
	uint64_t followed_ns; /* since then it has an event of its own (python_sampling.h); 0 = it
			       * has none
			       */
	void *poll_state;     /* the poller's, see tp_task_tree_set_release() */
};

/* Where it is at this moment, if records that have not been taken yet tell. */
static inline enum tp_task_tree_where tp_task_tree_current(const struct tp_task_tree_task *task)
{
	return task->ahead_ns > task->where_since_ns ? task->ahead : task->where;
}

/* Since when. */
static inline uint64_t tp_task_tree_current_ns(const struct tp_task_tree_task *task)
{
	return task->ahead_ns > task->where_since_ns ? task->ahead_ns : task->where_since_ns;
}

struct tp_task_tree;

struct tp_task_tree *tp_task_tree_new(const struct tp_host *host, struct tp_sink *sink);
void tp_task_tree_free(struct tp_task_tree *tree);
/* Command lines as they are; without it secrets in them are masked. */
void tp_task_tree_set_keeps_arguments(struct tp_task_tree *tree, bool keeps_arguments);

/* Whose time is kept by whoever has the tree; lent, NULL by default. */
void tp_task_tree_set_stages(struct tp_task_tree *tree, struct tp_stage_clock *stages);
struct tp_stage_clock *tp_task_tree_stages(const struct tp_task_tree *tree);

/* Said by a collector whose events report every birth and death: from now on a scan only corrects
 * what two scans in a row contradict, and only after tp_task_tree_mark_stale(). */
void tp_task_tree_set_has_events(struct tp_task_tree *tree, bool is_fed);
/* Events were lost, or a process has escaped them. */
void tp_task_tree_mark_stale(struct tp_task_tree *tree);

/* The files that the target's processes map; lent, lives as long as the tree. */
struct tp_modules *tp_task_tree_modules(const struct tp_task_tree *tree);

/* Called with a task's poll_state when the task ends or the tree is freed. */
void tp_task_tree_set_release(struct tp_task_tree *tree, void (*release)(void *poll_state));

/* A poll begins, at a time that has nothing to do with what the target does: tell the listeners, of
 * which there are TP_TASK_TREE_LISTENERS at most, in the order in which they came. */
enum { TP_TASK_TREE_LISTENERS = 2 };
void tp_task_tree_add_listener(struct tp_task_tree *tree, void (*polled)(void *context),
			       void *context);
void tp_task_tree_remove_listener(struct tp_task_tree *tree, const void *context);
void tp_task_tree_notify_poll(const struct tp_task_tree *tree);

/* Events, each putting the task's record into the sink. tid reuse makes a new task. parent_tid is 0
 * for the target itself. Where the new task is stays TP_TASK_TREE_UNKNOWN. */
struct tp_task_tree_task *tp_task_tree_fork(struct tp_task_tree *tree, pid_t tid, pid_t pid,
					    pid_t parent_tid, uint64_t time_ns);
/* Re-reads exe and cmdline, empties the maps, ends the other threads. */
void tp_task_tree_exec(struct tp_task_tree *tree, pid_t pid, uint64_t time_ns);
void tp_task_tree_comm(struct tp_task_tree *tree, pid_t tid, const char *comm);
void tp_task_tree_exit(struct tp_task_tree *tree, pid_t tid, uint64_t time_ns);

/* Borrowed until the next event; NULL when there is none alive with that tid. */
struct tp_task_tree_task *tp_task_tree_find(const struct tp_task_tree *tree, pid_t tid);
/* The id of the task that had this tid at that time, also when it has ended since; TP_NO_TASK when
 * none is known. */
uint32_t tp_task_tree_task_at(const struct tp_task_tree *tree, pid_t tid, pid_t pid,
			      uint64_t time_ns);
/* Alive tasks in unspecified order: *cursor starts at 0; NULL at the end. */
struct tp_task_tree_task *tp_task_tree_next(const struct tp_task_tree *tree, size_t *cursor);
size_t tp_task_tree_alive(const struct tp_task_tree *tree);

/* Compare with /proc: add what is missing, end what is gone. For tiers without perf (every poll)
 * and as a slow check with it (every second). Returns how many were added. */
size_t tp_task_tree_scan(struct tp_task_tree *tree, pid_t root, uint64_t now_ns);
/* The same for a target that runs already, before the tree is fed: all that exists now, without
 * ourselves. From then on our own children are none of the target's. */
size_t tp_task_tree_scan_existing(struct tp_task_tree *tree, pid_t root, uint64_t now_ns);

#endif
