/* SPDX-License-Identifier: Apache-2.0 */
/* Derives from the data in /proc why a thread is off CPU. Reads no files. */
#ifndef TRAINPROF_SRC_COLLECT_OFFCPU_WAIT_CAUSE_H
#define TRAINPROF_SRC_COLLECT_OFFCPU_WAIT_CAUSE_H

#include "collect/process/procfs.h"
#include "syscall_table.h"

#include "trainprof/model/task.h"

/* The facts that were read; empty texts are unknown. */
struct tp_wait_facts {
	char state;                    /* from stat; 0 = not read */
	bool has_call;                 /* the syscall file could be read */
	struct tp_procfs_syscall call; /* valid with has_call */
	const struct tp_syscall *row;  /* of the call; NULL if not in the table */
	const char *link;     /* target of the descriptor's link: "/data/a.jpg", "pipe:[7]" */
	const char *wchan;    /* kernel function; "0" and "" are unknown */
	bool is_timeout_only; /* a poll or select over no descriptor */
};

struct tp_wait_cause {
	enum tp_state state; /* BLOCKED or RUNNABLE; RUNNABLE includes ON_CPU */
	enum tp_cause cause; /* NONE unless blocked */
};

struct tp_wait_cause tp_wait_cause_classify(const struct tp_wait_facts *facts);

/* Returns the cause for the kernel function in which a thread sleeps; UNKNOWN if it gives none. */
enum tp_cause tp_wait_cause_of_wchan(const char *wchan);

#endif
