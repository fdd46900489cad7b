/* SPDX-License-Identifier: Apache-2.0 */
/* Detects that a process is stopped, and records that as a gap. */
#include "stop_watch.h"

#include "collect/machine/host_file.h"
#include "collect/process/procfs_stat.h"
#include "collect/process/task_tree.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/file.h"

#include <stdio.h>
#include <string.h>

#define READ_PERIOD_NS (TP_NS_PER_S / 10)
/* A thread that ran within this time is not stopped. */
#define RAN_JUST_NOW_NS (TP_NS_PER_S / 10)
/* A long stop is recorded in pieces of this length, so that a crash keeps most of it. */
#define PIECE_NS TP_NS_PER_S

enum { PATH_SIZE = 4096, WCHAN_SIZE = 128 };

/* Returns the kind of stop from the state in /proc/PID/stat and the kernel function in which it
 * sleeps, which may be "". Returns false if the process is not stopped. */
static bool classify(char state, const char *wchan, enum tp_stop_kind *out)
{
	if (state == 'T')
		*out = TP_STOP_SIGNAL;
	else if (state == 't')
		*out = TP_STOP_DEBUGGER;
	/* cgroup v2: get_signal() calls do_freezer_trap(); v1: __refrigerator(). */
	else if ((state == 'S' || state == 'D') &&
		 (strstr(wchan, "freezer") || strstr(wchan, "refrigerator")))
		*out = TP_STOP_FROZEN;
	else
		return false;
	return true;
}

static bool read_is_stopped(const struct tp_host *host, pid_t pid, enum tp_stop_kind *out)
{
	struct tp_procfs_stat stat;
	char wchan[WCHAN_SIZE] = "";
	char below[64];
	char path[PATH_SIZE];
	if (!tp_procfs_stat_read(&stat, host, pid, pid))
		return false;
	if (stat.state == 'S' || stat.state == 'D') {
		snprintf(below, sizeof(below), "/proc/%d/task/%d/wchan", (int)pid, (int)pid);
		tp_file_peek(tp_host_path(host, path, sizeof(path), below), wchan, sizeof(wchan));
	}
	return classify(stat.state, wchan, out);
}

static bool has_run_since(const struct tp_task_tree_task *leader, uint64_t now_ns)
{
	switch (leader->where) {
	case TP_TASK_TREE_UNKNOWN:
		return false;
	case TP_TASK_TREE_BLOCKED:
		return now_ns - leader->where_since_ns < RAN_JUST_NOW_NS;
	default:
		return true;
	}
}

static void emit_part(struct tp_stop_watch *watch, struct tp_sink *sink, pid_t pid)
{
	char reason[TP_STOP_REASON_SIZE];
	if (watch->seen_ns <= watch->from_ns)
		return;
	tp_stop_format(reason, watch->kind, pid, 0);
	tp_sink_gap(sink, TP_STOP_SOURCE, reason, watch->from_ns, watch->seen_ns, 0);
	watch->from_ns = watch->seen_ns;
}

void tp_stop_watch_poll(struct tp_stop_watch *watch, struct tp_sink *sink,
			const struct tp_host *host, const struct tp_task_tree_task *leader,
			uint64_t now_ns)
{
	enum tp_stop_kind kind = watch->kind;
	pid_t pid = leader->info.pid;
	if (now_ns < watch->due_ns || (!watch->is_stopped && has_run_since(leader, now_ns)))
		return;
	watch->due_ns = now_ns + READ_PERIOD_NS;
	bool is_stopped = read_is_stopped(host, pid, &kind);
	if (watch->is_stopped && (!is_stopped || kind != watch->kind)) {
		emit_part(watch, sink, pid);
		watch->is_stopped = false;
	}
	if (is_stopped && !watch->is_stopped)
		*watch = (struct tp_stop_watch){.due_ns = watch->due_ns,
						.is_stopped = true,
						.kind = kind,
						.from_ns = now_ns};
	if (!is_stopped)
		return;
	watch->seen_ns = now_ns;
	if (now_ns - watch->from_ns >= PIECE_NS)
		emit_part(watch, sink, pid);
}

void tp_stop_watch_finish(struct tp_stop_watch *watch, struct tp_sink *sink, pid_t pid)
{
	if (watch->is_stopped)
		emit_part(watch, sink, pid);
	watch->is_stopped = false;
}
