/* SPDX-License-Identifier: Apache-2.0 */
/* The tree's internal data about a thread; shared by task_tree.c and task_tree_scan.c. */
#ifndef TRAINPROF_SRC_COLLECT_PROCESS_TASK_TREE_ENTRY_H
#define TRAINPROF_SRC_COLLECT_PROCESS_TASK_TREE_ENTRY_H

#include "task_tree.h"

#include "trainprof/base/map.h"

struct tp_procfs_stat;

/* Data that the threads of a process share. Lives while one of them does. */
struct task_tree_process {
	pid_t pid;
	size_t n_alive;
	struct tp_maps *maps;
	uint32_t exe; /* string ids */
	uint32_t cmdline;
};

/* The public struct is the first member: a task is its entry. */
struct task_tree_entry {
	struct tp_task_tree_task task;
	struct task_tree_process *process;
	uint64_t start_ticks; /* as in /proc; 0 while unknown */
	uint64_t seen_in;     /* the last scan that found it in /proc */
	unsigned n_missed;    /* consecutive scans that did not */
	bool is_scanned;      /* found in /proc; its fork event, if one comes, is the same task */
};

struct task_tree_end {
	pid_t tid;
	pid_t pid;
	uint64_t time_ns;
};

struct task_tree_listener {
	void (*polled)(void *context);
	void *context;
};

struct tp_task_tree {
	const struct tp_host *host;
	struct tp_sink *sink;
	struct tp_modules *modules;
	struct tp_stage_clock *stages;
	void (*release)(void *poll_state);
	struct task_tree_listener listeners[TP_TASK_TREE_LISTENERS];
	size_t n_listeners;
	struct tp_map entries;   /* tid -> struct task_tree_entry *, live ones */
	struct tp_map processes; /* pid -> struct task_tree_process * */
	struct tp_map ended;     /* tid -> pid << 32 | id of the last one that ended */
	struct task_tree_end recent[TP_TASK_TREE_RECENT]; /* a ring */
	uint64_t n_ends;
	uint32_t n_tasks; /* number of ids assigned */
	bool is_attached; /* the target is not our child, and may be our parent */
	bool is_fed;      /* events report every fork and exit */
	bool keeps_arguments;
	bool is_in_rank; /* so is everything that is measured: nothing to find out */
	bool has_doubt;  /* but some were lost, or a process escaped them */
	uint64_t n_scans;
	uint64_t next_search_ns;   /* for children, and for changes of the leaders */
	struct tp_map candidates;  /* with events: tid found once in /proc -> scan that found it */
	bool lacks_children_files; /* no CONFIG_PROC_CHILDREN: parents come from stat */
};

struct task_tree_entry *tp_task_tree_entry(const struct tp_task_tree *tree, pid_t tid);
/* Adds a task that was found in /proc after its creation; emits its record. */
struct task_tree_entry *tp_task_tree_add_found(struct tp_task_tree *tree, pid_t tid, pid_t pid,
					       const struct tp_procfs_stat *stat,
					       uint64_t start_ns);
void tp_task_tree_end(struct tp_task_tree *tree, struct task_tree_entry *entry, uint64_t time_ns);

#endif
