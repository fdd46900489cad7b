/* SPDX-License-Identifier: Apache-2.0 */
/* From what /proc says about a thread that is off CPU to why it is. Pure: nothing is read here. */
#ifndef TRAINPROF_SRC_COLLECT_OFFCPU_WAIT_CAUSE_H
#define TRAINPROF_SRC_COLLECT_OFFCPU_WAIT_CAUSE_H

#include "collect/process/procfs.h"
#include "syscall_table.h"

#include "trainprof/model/task.h"

/* What was found out; empty texts are unknown. */
struct tp_wait_facts {
	char state;                    /* of stat; 0 not read */
	bool has_call;                 /* the syscall file could be read */
	struct tp_procfs_syscall call; /* valid with has_call */
	const struct tp_syscall *row;  /* of the call; NULL when not in the table */
	const char *link;              /* where the descriptor leads: "/data/a.jpg", "pipe:[7]" */
	const char *wchan;             /* kernel function; "0" and "" are unknown */
	bool is_timeout_only;          /* a poll or select over no descriptor */
};

struct tp_wait_cause {
	enum tp_state state; /* BLOCKED, RUNNABLE; ON_CPU is not told apart from RUNNABLE */
	enum tp_cause cause; /* NONE unless blocked */
};

struct tp_wait_cause tp_wait_cause_classify(const struct tp_wait_facts *facts);

/* By the kernel function a thread sleeps in. UNKNOWN when it tells nothing. */
enum tp_cause tp_wait_cause_of_wchan(const char *wchan);

#endif
