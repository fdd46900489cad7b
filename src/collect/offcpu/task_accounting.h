/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's own books about threads and processes: CPU time, run-queue delay, faults, I/O,
 * memory. Read about once a second and at the end, put as gauges; a reading that would repeat the
 * last one is left out until the value moves.
 */
#ifndef TRAINPROF_SRC_COLLECT_OFFCPU_TASK_ACCOUNTING_H
#define TRAINPROF_SRC_COLLECT_OFFCPU_TASK_ACCOUNTING_H

#include "collect/process/task_tree.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/map.h"
#include "trainprof/collect/host_info.h"

#include <stdbool.h>
#include <stdint.h>

enum { TP_TASK_ACCOUNT_VALUES_MAX = 13 };

/* The last reading of a thread or a process. Zero-initialised was never read. */
struct tp_task_account {
	double values[TP_TASK_ACCOUNT_VALUES_MAX];
	uint64_t read_ns; /* 0: never */
	bool is_put;      /* the last reading is in the sink */
	uint64_t n_runs;  /* of the tree, at that time */
	uint64_t due_ns;
	double delay_ratio; /* of the time between the last two readings; threads only */
};

struct tp_task_accounting {
	const struct tp_host *host;
	struct tp_sink *sink;
	struct tp_task_tree *tree;
	uint64_t started_ns;     /* what was born later began at zero */
	struct tp_map processes; /* pid -> struct account_process * */
	struct tp_buf text;
	uint64_t n_put;
};

void tp_task_accounting_init(struct tp_task_accounting *accounts, const struct tp_host *host,
			     struct tp_sink *sink, struct tp_task_tree *tree, uint64_t now_ns);
void tp_task_accounting_release(struct tp_task_accounting *accounts);

/*
 * Read a thread, and its process when that is due too. Updates the CPU times in task->info.
 * `is_last` reads even what has not run, and puts everything.
 */
void tp_task_accounting_read(struct tp_task_accounting *accounts, struct tp_task_account *account,
			     struct tp_task_tree_task *task, uint64_t now_ns, bool is_last);
/*
 * Only see how far the CPU time of a process has come: between readings, so that little is missing
 * when it ends, which nobody announces. False when it has not run since and nothing was read.
 */
bool tp_task_accounting_peek(struct tp_task_accounting *accounts,
			     const struct tp_task_tree_task *leader);
/* The leader of this process has ended: what the last glance saw is put. */
void tp_task_accounting_remove(struct tp_task_accounting *accounts, pid_t pid);

#endif
