/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks which thread is on which CPU and emits each stay when it ends. */
#include "perf_oncpu.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>

struct perf_cpu {
	pid_t tid; /* the thread on the CPU; 0 = none of ours, or unknown */
	uint64_t seen_ns;
	uint64_t whole_since_ns; /* no record was lost since then */
};

void tp_perf_oncpu_init(struct tp_perf_oncpu *runs, struct tp_task_tree *tree, struct tp_sink *sink,
			uint32_t n_cpus)
{
	*runs = (struct tp_perf_oncpu){.tree = tree, .sink = sink, .n_cpus = n_cpus};
	runs->cpus = tp_alloc((n_cpus + 1) * sizeof(*runs->cpus));
}

void tp_perf_oncpu_release(struct tp_perf_oncpu *runs)
{
	free(runs->cpus);
	*runs = (struct tp_perf_oncpu){0};
}

static struct perf_cpu *cpu_at(struct tp_perf_oncpu *runs, uint32_t cpu)
{
	return &runs->cpus[cpu < runs->n_cpus ? cpu : runs->n_cpus]; /* last: out of range */
}

static void emit_run(struct tp_perf_oncpu *runs, const struct tp_task_tree_task *task, uint32_t cpu,
		     uint64_t start_ns, uint64_t end_ns, enum tp_run_end how)
{
	if (start_ns >= end_ns && how != TP_RUN_EXITED && how != TP_RUN_OPEN)
		return;
	struct tp_run run = {.task = task->info.id, .cpu = cpu, .how = how};
	run.start_ns = start_ns;
	run.end_ns = end_ns > start_ns ? end_ns : start_ns;
	tp_sink_run(runs->sink, &run);
	runs->n_put++;
}

/* Removes the task from its CPU's entry if it is there. */
static void leave_cpu(struct tp_perf_oncpu *runs, const struct tp_task_tree_task *task)
{
	struct perf_cpu *cpu = cpu_at(runs, task->cpu);
	if (cpu->tid == task->info.tid)
		cpu->tid = 0;
}

/* The task was certainly there until then; its later state is unknown. For a task that was off the
 * CPU a stay of length 0 records that. */
static void end_open(struct tp_perf_oncpu *runs, struct tp_task_tree_task *task,
		     uint64_t certain_ns, uint64_t now_ns)
{
	if (task->where == TP_TASK_TREE_ON_CPU) {
		emit_run(runs, task, task->cpu, task->where_since_ns, certain_ns, TP_RUN_OPEN);
		leave_cpu(runs, task);
	} else if (task->where != TP_TASK_TREE_UNKNOWN) {
		emit_run(runs, task, task->cpu, certain_ns, certain_ns, TP_RUN_OPEN);
	}
	task->where = TP_TASK_TREE_UNKNOWN;
	task->where_since_ns = now_ns;
}

void tp_perf_oncpu_enable(struct tp_perf_oncpu *runs, uint64_t time_ns)
{
	for (uint32_t i = 0; i <= runs->n_cpus; i++)
		runs->cpus[i] = (struct perf_cpu){.seen_ns = time_ns, .whole_since_ns = time_ns};
	runs->is_on = true;
}

void tp_perf_oncpu_disable(struct tp_perf_oncpu *runs, uint64_t time_ns)
{
	size_t cursor = 0;
	struct tp_task_tree_task *task;
	while ((task = tp_task_tree_next(runs->tree, &cursor)))
		end_open(runs, task, time_ns, time_ns);
	runs->is_on = false;
}

void tp_perf_oncpu_seen(struct tp_perf_oncpu *runs, uint32_t cpu, uint64_t time_ns)
{
	struct perf_cpu *at = cpu_at(runs, cpu);
	if (time_ns > at->seen_ns)
		at->seen_ns = time_ns;
}

uint64_t tp_perf_oncpu_lost(struct tp_perf_oncpu *runs, uint32_t cpu, uint64_t time_ns)
{
	struct perf_cpu *at = cpu_at(runs, cpu);
	uint64_t from_ns = at->seen_ns;
	struct tp_task_tree_task *task = at->tid ? tp_task_tree_find(runs->tree, at->tid) : NULL;
	if (task && runs->is_on)
		end_open(runs, task, from_ns, time_ns);
	at->tid = 0;
	at->whole_since_ns = time_ns;
	at->seen_ns = time_ns;
	return from_ns;
}

void tp_perf_oncpu_switch_in(struct tp_perf_oncpu *runs, struct tp_task_tree_task *task,
			     uint32_t cpu, uint64_t time_ns)
{
	struct perf_cpu *at = cpu_at(runs, cpu);
	if (!runs->is_on)
		return;
	if (task->where == TP_TASK_TREE_ON_CPU) { /* its switch-out was lost, or comes later */
		runs->n_unmatched++;
		end_open(runs, task, cpu_at(runs, task->cpu)->seen_ns, time_ns);
	}
	struct tp_task_tree_task *other = at->tid ? tp_task_tree_find(runs->tree, at->tid) : NULL;
	if (other && other != task) {
		runs->n_unmatched++;
		end_open(runs, other, at->seen_ns, time_ns);
	}
	at->tid = task->info.tid;
	task->where = TP_TASK_TREE_ON_CPU;
	task->cpu = cpu;
	task->where_since_ns = time_ns;
	task->n_runs++;
}

/* Handles a switch-out without a recorded switch-in. If records of this CPU were lost since the
 * task was last seen off it (or switch records began meanwhile), the switch-in is among those:
 * the task has been here at least since the records are complete again. Otherwise nothing is
 * certain. */
static bool find_start(struct tp_perf_oncpu *runs, const struct tp_task_tree_task *task,
		       uint32_t cpu, uint64_t *start_ns)
{
	uint64_t whole_ns = cpu_at(runs, cpu)->whole_since_ns;
	if (task->where != TP_TASK_TREE_UNKNOWN && whole_ns <= task->where_since_ns)
		return false;
	*start_ns = whole_ns > task->info.start_ns ? whole_ns : task->info.start_ns;
	return true;
}

void tp_perf_oncpu_switch_out(struct tp_perf_oncpu *runs, struct tp_task_tree_task *task,
			      uint32_t cpu, uint64_t time_ns, enum tp_run_end how)
{
	uint64_t start_ns;
	if (!runs->is_on || (task->where_since_ns > time_ns && how != TP_RUN_EXITED))
		return; /* late: a later state is already known */
	if (task->where == TP_TASK_TREE_ON_CPU && task->cpu == cpu) {
		emit_run(runs, task, cpu, task->where_since_ns, time_ns, how);
		leave_cpu(runs, task);
	} else {
		runs->n_unmatched++;
		if (task->where == TP_TASK_TREE_ON_CPU)
			end_open(runs, task, cpu_at(runs, task->cpu)->seen_ns, time_ns);
		else if (find_start(runs, task, cpu, &start_ns))
			emit_run(runs, task, cpu, start_ns, time_ns, how);
	}
	task->where = how == TP_RUN_PREEMPTED ? TP_TASK_TREE_PREEMPTED : TP_TASK_TREE_BLOCKED;
	task->where_since_ns = time_ns;
	task->cpu = cpu;
}

void tp_perf_oncpu_remove(struct tp_perf_oncpu *runs, struct tp_task_tree_task *task,
			  uint64_t time_ns)
{
	if (runs->is_on)
		end_open(runs, task, time_ns, time_ns);
}
