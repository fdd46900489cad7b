/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's accounting of threads and processes: CPU time, run-queue delay, faults, I/O, memory.
 * Read about once per second and at the end, emitted as gauges; a reading that repeats the last one
 * is left out until the value changes. */
#ifndef TRAINPROF_SRC_COLLECT_OFFCPU_TASK_ACCOUNTING_H
#define TRAINPROF_SRC_COLLECT_OFFCPU_TASK_ACCOUNTING_H

#include "collect/process/task_tree.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/map.h"
#include "trainprof/collect/host_info.h"

#include <stdbool.h>
#include <stdint.h>

enum { TP_TASK_ACCOUNT_VALUES_MAX = 13 };

/* The last reading of a thread or a process. All zero = never read. */
struct tp_task_account {
	double values[TP_TASK_ACCOUNT_VALUES_MAX];
	uint64_t read_ns; /* 0 = never */
	bool is_put;      /* the last reading was emitted */
	uint64_t n_runs;  /* of the tree, at that time */
	uint64_t due_ns;
	double delay_ratio; /* share of the time between the last two readings; threads only */
};

struct tp_task_accounting {
	const struct tp_host *host;
	struct tp_sink *sink;
	struct tp_task_tree *tree;
	uint64_t started_ns;     /* tasks born later began at zero */
	struct tp_map processes; /* pid -> struct account_process * */
	struct tp_buf text;
	uint64_t n_put;
};

void tp_task_accounting_init(struct tp_task_accounting *accounts, const struct tp_host *host,
			     struct tp_sink *sink, struct tp_task_tree *tree, uint64_t now_ns);
void tp_task_accounting_release(struct tp_task_accounting *accounts);

/* Reads a thread, and its process if that is due too. Updates the CPU times in task->info.
 * `is_last` also reads tasks that have not run, and emits everything. */
void tp_task_accounting_read(struct tp_task_accounting *accounts, struct tp_task_account *account,
			     struct tp_task_tree_task *task, uint64_t now_ns, bool is_last);
/* Only reads the CPU time of a process, between readings, so that little is missing when it ends
 * without notice. Returns false if it has not run since and nothing was read. */
bool tp_task_accounting_peek(struct tp_task_accounting *accounts,
			     const struct tp_task_tree_task *leader);
/* The leader of this process has ended: emits the values of the last peek. */
void tp_task_accounting_remove(struct tp_task_accounting *accounts, pid_t pid);

#endif
