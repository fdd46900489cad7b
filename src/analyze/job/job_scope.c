/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the ranks among the processes of one recording, as under "run -- mpirun": each process
 * has what its launcher told it, and so do the processes that it starts. The first is the rank.
 */
#include "trainprof/analyze/job_join.h"

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

/* Whether a process above it is the same rank. */
static bool is_of_rank_above(const struct tp_trace *trace, uint32_t task, double number)
{
	double other;
	double n_ranks;
	for (size_t depth = 0; depth < trace->n_tasks; depth++) {
		uint32_t parent = trace->tasks[task].parent;
		if (parent == TP_NO_TASK || parent >= trace->n_tasks)
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

size_t tp_job_inner_ranks(struct tp_inner_rank **out, const struct tp_trace *trace,
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
