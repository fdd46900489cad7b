/* SPDX-License-Identifier: Apache-2.0 */
/* Attaches to the processes of a tree one after the other. */
#include "agent_attach.h"

#include "agent_path.h"
#include "collect/process/procfs_stat.h"
#include "collect/process/task_tree.h"
#include "gpu_ring_set.h"

#include "trainprof/collect/collector.h"
#include "trainprof/inject/inject.h"
#include "trainprof/wire/gpu_ring.h"

#define TP_LOG_DOMAIN "collect"
#include "trainprof/base/log.h"

/* True if the process was forked from its parent and has not called exec: its stack then starts at
 * the same address as the parent's. */
static bool is_forked_copy(const struct tp_host *host, pid_t pid)
{
	struct tp_procfs_stat own;
	struct tp_procfs_stat parent;
	return tp_procfs_stat_read(&own, host, pid, 0) &&
	       tp_procfs_stat_read(&parent, host, own.ppid, 0) && own.stack_start &&
	       own.stack_start == parent.stack_start;
}

static enum tp_status attach_one(struct tp_agent_attach_stats *out, struct tp_gpu_ring_set *rings,
				 pid_t pid, const char *agent, struct tp_error *err)
{
	const struct tp_inject_config config = {
		.library = agent,
		.soname = TP_AGENT_LIBRARY,
		.door = TP_GPU_AGENT_ENTRY,
		.needs = "libcuda",
	};
	struct tp_injection injection;
	enum tp_status status = tp_inject(&injection, pid, &config, err);
	if (status == TP_OK)
		status = tp_gpu_ring_set_add_fd(rings, injection.fd, pid, err);
	if (status != TP_OK) {
		tp_info("%s", err->text);
		out->n_refused += status != TP_ABSENT;
		return status;
	}
	tp_info("pid %d: the agent %s; thread %u of those looked at was held for %.3f ms", (int)pid,
		injection.was_there ? "was there" : "was put in", injection.n_tries,
		(double)injection.stopped_ns * 1e-6);
	out->n++;
	if (injection.stopped_ns > out->stopped_ns)
		out->stopped_ns = injection.stopped_ns;
	return TP_OK;
}

enum tp_status tp_agent_attach(struct tp_agent_attach_stats *out, struct tp_gpu_ring_set *rings,
			       const struct tp_task_tree *tree, pid_t target, const char *agent,
			       struct tp_error *err)
{
	struct tp_error why = {0};
	const struct tp_task_tree_task *task;
	size_t cursor = 0;
	*out = (struct tp_agent_attach_stats){0};
	enum tp_status status = attach_one(out, rings, target, agent, &why);
	while ((task = tp_task_tree_next(tree, &cursor))) {
		struct tp_error other = {0};
		bool is_child = task->is_alive && task->info.tid == task->info.pid &&
				task->info.pid != target;
		if (!is_child || is_forked_copy(rings->context->host, task->info.pid))
			continue;
		enum tp_status of_child = attach_one(out, rings, task->info.pid, agent, &other);
		/* An error of a child says more than a shell that does not use CUDA. */
		if (status == TP_ABSENT && of_child != TP_OK && of_child != TP_ABSENT) {
			status = of_child;
			why = other;
		}
	}
	if (out->n)
		return TP_OK;
	if (err)
		*err = why;
	return status;
}
