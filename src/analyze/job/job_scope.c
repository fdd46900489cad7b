/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the ranks among the processes of one recording, as under "run -- mpirun": each process has
 * the variables of its launcher, and so do the processes that it starts. The first of them is the
 * rank. Without a launcher ranks are the trainers of one program that exchange data. */
#include "trainprof/analyze/job_join.h"

#include "analyze/thresholds.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>

static bool rank_of(const struct tp_trace *trace, uint32_t task, double *number, double *n_ranks)
{
	size_t n;
	const struct tp_gauge *gauges = tp_trace_gauges(trace, TP_METRIC_PROC_RANK, task, &n);
	if (!n)
		return false;
	*number = gauges[n - 1].value;
	gauges = tp_trace_gauges(trace, TP_METRIC_PROC_RANKS, task, &n);
	*n_ranks = n ? gauges[n - 1].value : 0;
	return *number >= 0 && *number < INT32_MAX && *n_ranks >= 0 && *n_ranks < INT32_MAX;
}

static uint32_t leader_of(const struct tp_trace *trace, uint32_t task)
{
	const struct tp_task *at = &trace->tasks[task];
	for (uint32_t i = 0; i < trace->n_tasks; i++)
		if (trace->tasks[i].pid == at->pid && trace->tasks[i].tid == at->pid &&
		    trace->tasks[i].start_ns <= at->start_ns)
			return i;
	return task;
}

/* Returns true if a process above it is the same rank. */
static bool is_of_rank_above(const struct tp_trace *trace, uint32_t task, double number)
{
	double other;
	double n_ranks;
	for (size_t depth = 0; depth < trace->n_tasks; depth++) {
		uint32_t parent = trace->tasks[task].parent;
		if (parent == TP_NO_TASK)
			return false;
		task = leader_of(trace, parent);
		if (rank_of(trace, task, &other, &n_ranks) && other == number)
			return true;
	}
	return false;
}

static int by_number(const void *a, const void *b)
{
	const struct tp_inner_rank *x = a;
	const struct tp_inner_rank *y = b;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->root > y->root) - (x->root < y->root);
}

size_t tp_job_ranks_by_launcher(struct tp_inner_rank **out, const struct tp_trace *trace,
				struct tp_arena *arena)
{
	struct tp_inner_rank *ranks = tp_arena_array(arena, trace->n_tasks + 1, sizeof(*ranks));
	size_t n = 0;
	for (uint32_t task = 0; task < trace->n_tasks; task++) {
		const struct tp_task *info = &trace->tasks[task];
		double number;
		double n_ranks;
		if (info->tid != info->pid || !rank_of(trace, task, &number, &n_ranks) ||
		    is_of_rank_above(trace, task, number))
			continue;
		ranks[n++] = (struct tp_inner_rank){.root = task,
						    .pid = info->pid,
						    .number = (int64_t)number,
						    .n_ranks = (uint32_t)n_ranks};
	}
	qsort(ranks, n, sizeof(*ranks), by_number);
	*out = ranks;
	return n > 1 && ranks[0].number != ranks[n - 1].number ? n : 0;
}

/* ---- without a launcher ---------------------------------------------------------------------- */

static uint64_t lived_ns(const struct tp_trace *trace, const struct tp_task *task)
{
	uint64_t end_ns = task->end_ns ? task->end_ns : trace->end_ns;
	return end_ns > task->start_ns ? end_ns - task->start_ns : 0;
}

/* Returns true if two processes of one program each lived for at least half of the run: otherwise
 * there are no ranks to find. */
bool tp_job_may_hold_ranks(const struct tp_trace *trace)
{
	uint32_t exe = 0;
	if (trace->run.job.launcher || trace->run.mode == TP_MODE_IMPORT)
		return false;
	for (uint32_t i = 0; i < trace->n_tasks; i++) {
		const struct tp_task *task = &trace->tasks[i];
		if (task->tid != task->pid || task->parent == TP_NO_TASK || !task->exe ||
		    2 * lived_ns(trace, task) < trace->end_ns)
			continue;
		if (exe && exe == task->exe)
			return true;
		exe = task->exe;
	}
	return false;
}

static bool is_peer(const struct tp_profile *profile, const struct tp_process_result *process)
{
	const struct tp_trace *trace = profile->trace;
	const struct tp_task *first = &trace->tasks[profile->trainer];
	const struct tp_task *task = &trace->tasks[process->task];
	return process->role == TP_ROLE_TRAINER && task->exe == first->exe &&
	       2 * lived_ns(trace, task) >= lived_ns(trace, first);
}

size_t tp_job_ranks_by_roles(struct tp_inner_rank **out, const struct tp_profile *profile,
			     struct tp_arena *arena)
{
	struct tp_inner_rank *ranks =
		tp_arena_array(arena, profile->n_processes + 1, sizeof(*ranks));
	double exchanged_ns = (double)profile->parts[TP_PART_COMMUNICATION].time_ns;
	size_t n = 0;
	*out = ranks;
	if (profile->trainer == TP_NO_TASK ||
	    exchanged_ns < TP_JOB_EXCHANGED_MIN * (double)profile->total_ns)
		return 0;
	for (size_t i = 0; i < profile->n_processes; i++)
		if (is_peer(profile, &profile->processes[i]))
			ranks[n++] = (struct tp_inner_rank){
				.root = profile->processes[i].task,
				.pid = profile->trace->tasks[profile->processes[i].task].pid,
				.number = -1};
	return n > 1 ? n : 0;
}
