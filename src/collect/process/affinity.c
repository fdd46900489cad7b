/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the affinity mask of every thread. */
#include "affinity.h"

#include "task_tree.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"

#include <sched.h>
#include <stdlib.h>

#define PERIOD_NS (2 * TP_NS_PER_S)

struct process_mask {
	uint32_t leader; /* task */
	cpu_set_t cpus;  /* of all threads; more than 1,024 CPUs are not supported */
};

void tp_affinity_release(struct tp_affinity *affinity)
{
	tp_map_release(&affinity->n_cpus);
}

static void put_masks(struct tp_affinity *affinity, struct tp_sink *sink,
		      const struct tp_map *by_pid, const struct process_mask *masks,
		      uint64_t now_ns)
{
	size_t cursor = 0;
	uint64_t pid;
	uint64_t at;
	while (tp_map_next(by_pid, &cursor, &pid, &at)) {
		uint64_t before = 0;
		uint64_t n = (uint64_t)CPU_COUNT(&masks[at].cpus);
		tp_map_get(&affinity->n_cpus, pid, &before);
		if (!n || n == before || masks[at].leader == TP_NO_TASK)
			continue;
		tp_sink_gauge(sink, TP_METRIC_PROC_CPUS, masks[at].leader, now_ns, (double)n);
		tp_map_set(&affinity->n_cpus, pid, n);
		affinity->n_put++;
	}
}

void tp_affinity_read(struct tp_affinity *affinity, const struct tp_task_tree *tree,
		      struct tp_sink *sink, uint64_t now_ns)
{
	if (now_ns < affinity->due_ns)
		return;
	affinity->due_ns = now_ns + PERIOD_NS;
	struct tp_map by_pid = {0};
	struct process_mask *masks = tp_alloc((tp_task_tree_alive(tree) + 1) * sizeof(*masks));
	size_t n = 0;
	size_t cursor = 0;
	const struct tp_task_tree_task *task;
	while ((task = tp_task_tree_next(tree, &cursor))) {
		cpu_set_t cpus;
		uint64_t at;
		if (sched_getaffinity(task->info.tid, sizeof(cpus), &cpus))
			continue;
		if (!tp_map_get(&by_pid, (uint64_t)task->info.pid, &at)) {
			at = n++;
			masks[at].leader = TP_NO_TASK;
			CPU_ZERO(&masks[at].cpus);
			tp_map_set(&by_pid, (uint64_t)task->info.pid, at);
		}
		CPU_OR(&masks[at].cpus, &masks[at].cpus, &cpus);
		if (task->info.tid == task->info.pid)
			masks[at].leader = task->info.id;
	}
	put_masks(affinity, sink, &by_pid, masks, now_ns);
	tp_map_release(&by_pid);
	free(masks);
}
