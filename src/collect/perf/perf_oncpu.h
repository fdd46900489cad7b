/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts context-switch records to stays on a CPU. Every emitted stay really happened: if records
 * were lost, a stay is cut to the part that is certain and ends TP_RUN_OPEN.
 *
 * Records come in the order of time (perf_ring.h); those of one CPU always do.
 */
#ifndef TRAINPROF_SRC_COLLECT_PERF_PERF_ONCPU_H
#define TRAINPROF_SRC_COLLECT_PERF_PERF_ONCPU_H

#include "collect/process/task_tree.h"

struct perf_cpu;

struct tp_perf_oncpu {
	struct tp_task_tree *tree;
	struct tp_sink *sink;
	struct perf_cpu *cpus; /* by CPU number */
	uint32_t n_cpus;
	bool is_on; /* switch records are being written */
	uint64_t n_put;
	uint64_t n_unmatched; /* ends without a beginning and beginnings without an end */
};

void tp_perf_oncpu_init(struct tp_perf_oncpu *runs, struct tp_task_tree *tree, struct tp_sink *sink,
			uint32_t n_cpus);
void tp_perf_oncpu_release(struct tp_perf_oncpu *runs);

/* Switch records are complete from this time on. */
void tp_perf_oncpu_enable(struct tp_perf_oncpu *runs, uint64_t time_ns);
/* Switch records are no longer complete: a task on a CPU ends open, and where tasks are is
 * unknown. */
void tp_perf_oncpu_disable(struct tp_perf_oncpu *runs, uint64_t time_ns);

/* Called for any record of this CPU, before the calls below: the CPU was observed at that time. */
void tp_perf_oncpu_seen(struct tp_perf_oncpu *runs, uint32_t cpu, uint64_t time_ns);
/* Records of this CPU were lost between the last observed one and this time. Returns the time of
 * the former. */
uint64_t tp_perf_oncpu_lost(struct tp_perf_oncpu *runs, uint32_t cpu, uint64_t time_ns);

void tp_perf_oncpu_switch_in(struct tp_perf_oncpu *runs, struct tp_task_tree_task *task,
			     uint32_t cpu, uint64_t time_ns);
/* how: TP_RUN_BLOCKED, TP_RUN_PREEMPTED or TP_RUN_EXITED. */
void tp_perf_oncpu_switch_out(struct tp_perf_oncpu *runs, struct tp_task_tree_task *task,
			      uint32_t cpu, uint64_t time_ns, enum tp_run_end how);
/* The task is no longer followed under this tid; its stay, if any, ends open at that time. */
void tp_perf_oncpu_remove(struct tp_perf_oncpu *runs, struct tp_task_tree_task *task,
			  uint64_t time_ns);

#endif
