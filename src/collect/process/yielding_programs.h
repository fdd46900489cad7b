/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the programs that leave their CPU to the target whenever it needs one: niced ones, and
 * those of SCHED_IDLE. The scheduler compares only tasks of one group with each other, whether this
 * is a control group or an autogroup: beside another group, the nicest program takes the full share
 * of its group. And a hundred nice programs together take as much as one that is not. */
#ifndef TRAINPROF_SRC_COLLECT_PROCESS_YIELDING_PROGRAMS_H
#define TRAINPROF_SRC_COLLECT_PROCESS_YIELDING_PROGRAMS_H

#include <stddef.h>

struct tp_host;
struct tp_other_programs_entry; /* other_programs.h */
struct tp_task_tree;

/* Sets `is_yielding` of all of them. Reads further files only of the nice ones. */
void tp_yielding_programs_judge(struct tp_other_programs_entry *programs, size_t n,
				const struct tp_host *host, const struct tp_task_tree *tree);

#endif
