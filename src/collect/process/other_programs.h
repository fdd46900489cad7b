/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the CPU time of programs that are not part of the target, to show which programs use the
 * CPUs. Reads the stat of every process of the machine (of the container, if /proc shows no more),
 * some five microseconds each, so rarely that it stays below a thousandth of one CPU. */
#ifndef TRAINPROF_SRC_COLLECT_PROCESS_OTHER_PROGRAMS_H
#define TRAINPROF_SRC_COLLECT_PROCESS_OTHER_PROGRAMS_H

#include "procfs_stat.h"

#include "trainprof/model/sink.h"

#include <stdbool.h>
#include <stdint.h>

struct tp_host;
struct tp_task_tree;

/* A process as it was at the last read. */
struct tp_other_programs_entry {
	pid_t pid;
	struct tp_procfs_stat stat;
	uint64_t used_ns;       /* CPU time since the read before */
	uint64_t by_ended_ns;   /* the same of its children that ended since */
	uint64_t yielded_ns;    /* CPU time that it used while it yielded: its marks leave it out */
	uint64_t last_value_ns; /* what a mark would have had when one was last emitted, or when
				   the process was first seen */
	bool has_marks;
	bool is_yielding;
};

struct tp_other_programs {
	const struct tp_host *host; /* borrowed */
	struct tp_sink *sink;
	const struct tp_task_tree *tree;          /* its processes are the target's */
	struct tp_other_programs_entry *programs; /* heap, those of the last read, by pid */
	size_t n_programs;
	size_t programs_capacity;
	uint64_t read_ns; /* time of the last read; 0 = never */
	uint64_t due_ns;
	uint64_t n_put;
	uint64_t yielding_ns; /* CPU time of those that yield to the target, since the first read */
};

void tp_other_programs_init(struct tp_other_programs *others, const struct tp_host *host,
			    struct tp_sink *sink, const struct tp_task_tree *tree);
void tp_other_programs_release(struct tp_other_programs *others);

/* Emits a TP_MARK_OTHER for each program that has used a significant part of a CPU since the last
 * time, and the CPU time of programs that leave their CPU to the target whenever it needs one
 * (yielding_programs.h): these take nothing from it, and have no marks. Does nothing if it is too
 * early, unless it `must`. */
void tp_other_programs_read(struct tp_other_programs *others, uint64_t now_ns, bool must);

#endif
