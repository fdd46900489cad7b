/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatches each perf record to the code that handles it. */
#include "perf_dispatch.h"

#include "collect/process/procfs_stat.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"
#include "trainprof/collect/host_info.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A set-user-ID program loses its events at the exec itself; other exits so soon after it are
 * rare. */
#define EXIT_WITHIN_NS (50 * TP_NS_PER_MS)
/* Two records of one exec are microseconds apart. */
#define SAME_EXEC_NS TP_NS_PER_MS
/* Time from the exit record to the zombie state: a process that is still alive then stays alive. */
#define DEATH_WITHIN_NS (200 * TP_NS_PER_MS)

/* Records per ring; 5 ms of the busiest machine. */
enum { PEEK_MAX = 256 };

const char tp_perf_source[] = "perf";

struct perf_exiting {
	pid_t pid;
	uint64_t time_ns; /* when its events ended */
	bool is_alive;    /* still alive, without events */
	uint32_t comm;
};

void tp_perf_dispatch_init(struct tp_perf_dispatch *feed, const struct tp_host *host,
			   struct tp_task_tree *tree, struct tp_sink *sink,
			   const struct tp_perf_layout *layout, uint32_t n_cpus)
{
	memset(feed, 0, sizeof(*feed));
	feed->host = host;
	feed->tree = tree;
	feed->sink = sink;
	feed->layout = *layout;
	feed->n_cpus = n_cpus;
	feed->keep_one_in = 1;
	feed->n_switches = tp_alloc((n_cpus + 1) * sizeof(*feed->n_switches));
	tp_perf_oncpu_init(&feed->runs, tree, sink, n_cpus);
	tp_perf_callchain_init(&feed->stacks, tree, sink);
}

void tp_perf_dispatch_release(struct tp_perf_dispatch *feed)
{
	tp_perf_oncpu_release(&feed->runs);
	tp_perf_callchain_release(&feed->stacks);
	free(feed->n_switches);
	free(feed->leavers);
}

void tp_perf_dispatch_go_system_wide(struct tp_perf_dispatch *feed,
				     const struct tp_perf_layout *layout, uint64_t since_ns)
{
	feed->layout = *layout;
	feed->is_wide = true;
	feed->since_ns = since_ns;
	feed->listeners = feed->leaves = NULL;
}

static void gap_grow(struct tp_perf_gap *gap, uint64_t start_ns, uint64_t end_ns, uint64_t n)
{
	if (!gap->start_ns || start_ns < gap->start_ns)
		gap->start_ns = start_ns;
	if (end_ns > gap->end_ns)
		gap->end_ns = end_ns;
	gap->n += n;
}

static void gap_emit(struct tp_perf_dispatch *feed, struct tp_perf_gap *gap, const char *reason)
{
	if (!gap->start_ns)
		return;
	tp_sink_gap(feed->sink, tp_perf_source, reason, gap->start_ns, gap->end_ns, gap->n);
	*gap = (struct tp_perf_gap){0};
}

/* Returns the thread for which the record's event was opened; 0 if unknown. */
static pid_t listener_of(const struct tp_perf_dispatch *feed, const struct tp_perf_record *record)
{
	uint64_t tid;
	if (!feed->listeners || !tp_map_get(feed->listeners, record->event_id, &tid))
		return 0;
	return (pid_t)tid;
}

/* Returns the task of the record and creates it if its fork was lost. NULL for the idle task. */
static struct tp_task_tree_task *task_of(struct tp_perf_dispatch *feed,
					 const struct tp_perf_record *record)
{
	struct tp_task_tree_task *task = tp_task_tree_find(feed->tree, record->tid);
	if (record->tid <= 0 || record->pid <= 0)
		return NULL;
	if (task && task->info.pid == record->pid)
		return task;
	tp_task_tree_mark_stale(feed->tree);
	task = tp_task_tree_fork(feed->tree, record->tid, record->pid,
				 record->tid != record->pid ? record->pid : 0, record->time_ns);
	if (!feed->is_joining)
		task->listens_to = listener_of(feed, record);
	return task;
}

static bool is_switch_out(const struct tp_perf_dispatch *feed, const struct tp_perf_record *record)
{
	uint64_t ignored;
	return feed->leaves && tp_map_get(feed->leaves, record->event_id, &ignored);
}

/* The sample represents no time, so it must not count like the others. Kept only for first threads,
 * which have the phases, and not for threads that run Python, because their frames would have to be
 * read at once. */
static void handle_switch_out(struct tp_perf_dispatch *feed, const struct tp_perf_record *record)
{
	const struct tp_task_tree_task *task = task_of(feed, record);
	feed->n_leavings++;
	if (!task || feed->is_paused || feed->drops_stacks || task->followed_ns ||
	    record->tid != record->pid)
		return;
	struct tp_sample sample = tp_perf_stacks_sample(&feed->stacks, task, record, true, NULL);
	sample.flags = TP_SAMPLE_KERNEL | TP_SAMPLE_SWITCH_OUT;
	tp_sink_sample(feed->sink, &sample);
}

static void handle_sample(struct tp_perf_dispatch *feed, const struct tp_perf_record *record)
{
	struct tp_task_tree_task *task = task_of(feed, record);
	feed->n_samples++;
	feed->n_target_samples += record->tid == feed->target;
	if (!task || feed->is_paused)
		return;
	if (task->followed_ns && record->time_ns >= task->followed_ns)
		return; /* its own event gives more */
	bool is_unwound = !feed->drops_stacks && feed->n_samples % feed->keep_one_in == 0;
	struct tp_sample sample =
		tp_perf_stacks_sample(&feed->stacks, task, record, is_unwound, NULL);
	tp_sink_sample(feed->sink, &sample);
	if (feed->drops_stacks)
		gap_grow(&feed->dropped, record->time_ns, record->time_ns, 1);
}

static void count_switch(struct tp_perf_dispatch *feed, const struct tp_perf_record *record)
{
	if (record->of.change.is_out)
		feed->n_switches[record->cpu < feed->n_cpus ? record->cpu : feed->n_cpus]++;
}

static void handle_switch(struct tp_perf_dispatch *feed, const struct tp_perf_record *record)
{
	struct tp_task_tree_task *task = task_of(feed, record);
	count_switch(feed, record);
	if (!task)
		return;
	if (!record->of.change.is_out)
		tp_perf_oncpu_switch_in(&feed->runs, task, record->cpu, record->time_ns);
	else
		tp_perf_oncpu_switch_out(&feed->runs, task, record->cpu, record->time_ns,
					 record->of.change.is_preempted ? TP_RUN_PREEMPTED
									: TP_RUN_BLOCKED);
}

static void handle_fork(struct tp_perf_dispatch *feed, const struct tp_perf_record *record)
{
	struct tp_task_tree_task *parent =
		tp_task_tree_find(feed->tree, record->of.fork.parent_tid);
	if (parent)
		parent->n_births++;
	/* A thread that is born while its creator is being joined inherits only the events that are
	 * open by then: a fork is conclusive only if the creator's own events report it. */
	bool is_whole = parent && parent->listens_to == listener_of(feed, record);
	struct tp_task_tree_task *task =
		tp_task_tree_fork(feed->tree, record->tid, record->pid, record->of.fork.parent_tid,
				  record->time_ns);
	if (!task->listens_to && (is_whole || !feed->is_joining))
		task->listens_to = listener_of(feed, record);
	if (!feed->runs.is_on)
		return;
	task->where = TP_TASK_TREE_PREEMPTED; /* runnable, has not run yet */
	task->where_since_ns = record->time_ns;
}

/* When one thread execs, the others end here without a record of their own. */
static void handle_exec(struct tp_perf_dispatch *feed, const struct tp_perf_record *record)
{
	size_t cursor = 0;
	struct tp_task_tree_task *task;
	while ((task = tp_task_tree_next(feed->tree, &cursor)))
		if (task->info.pid == record->pid && task->info.tid != record->pid)
			tp_perf_oncpu_remove(&feed->runs, task, record->time_ns);
	tp_task_tree_exec(feed->tree, record->pid, record->time_ns);
	task = tp_task_tree_find(feed->tree, record->pid);
	if (task->where != TP_TASK_TREE_ON_CPU)
		tp_perf_oncpu_switch_in(&feed->runs, task, record->cpu, record->time_ns);
}

static void handle_comm(struct tp_perf_dispatch *feed, const struct tp_perf_record *record)
{
	if (!task_of(feed, record))
		return;
	if (record->of.comm.is_exec)
		handle_exec(feed, record);
	tp_task_tree_comm(feed->tree, record->tid, record->of.comm.name);
}

static void handle_exit(struct tp_perf_dispatch *feed, const struct tp_perf_record *record)
{
	struct tp_task_tree_task *task = tp_task_tree_find(feed->tree, record->tid);
	if (!task)
		return;
	tp_perf_oncpu_switch_out(&feed->runs, task, record->cpu, record->time_ns, TP_RUN_EXITED);
	const struct tp_task *info = &task->info;
	if (info->tid == info->pid && record->time_ns - info->exec_ns < EXIT_WITHIN_NS &&
	    tp_procfs_stat_is_alive(feed->host, info->pid, 0)) {
		struct perf_exiting leaver = {.pid = info->pid, .time_ns = record->time_ns};
		leaver.comm = info->comm;
		TP_ARRAY_PUSH(feed->leavers, feed->n_leavers, feed->leavers_capacity) = leaver;
		task->where = TP_TASK_TREE_UNKNOWN;
		return;
	}
	tp_task_tree_exit(feed->tree, record->tid, record->time_ns);
}

static void handle_lost(struct tp_perf_dispatch *feed, const struct tp_perf_record *record)
{
	uint64_t from_ns = tp_perf_oncpu_lost(&feed->runs, record->cpu, record->time_ns);
	feed->n_lost += record->of.n_lost;
	gap_grow(&feed->lost, from_ns, record->time_ns, record->of.n_lost);
	tp_task_tree_mark_stale(feed->tree); /* forks may be among the lost records */
}

static void handle_mapping(struct tp_perf_dispatch *feed, const struct tp_perf_record *record)
{
	struct tp_task_tree_task *task = task_of(feed, record);
	if (task)
		tp_maps_add(task->maps, &record->of.mapping);
}

/* For an exec by a thread other than the first: its events continue under the first thread's
 * tid. */
static bool is_accepted_exec(struct tp_task_tree_task *task, const struct tp_perf_record *record,
			     pid_t told)
{
	if (record->time_ns - task->info.exec_ns < SAME_EXEC_NS)
		return false; /* a duplicate of the same exec */
	task->listens_to = told;
	return true;
}

/* True if the record comes from the event that is used for its thread. See struct
 * tp_perf_dispatch.listeners. */
static bool is_accepted(struct tp_perf_dispatch *feed, const struct tp_perf_record *record)
{
	pid_t told = listener_of(feed, record);
	bool is_birth = record->type == PERF_RECORD_FORK;
	struct tp_task_tree_task *task =
		tp_task_tree_find(feed->tree, is_birth ? record->of.fork.parent_tid : record->tid);
	if (!told || !task || !task->listens_to || task->listens_to == told)
		return true;
	if (record->type == PERF_RECORD_COMM && record->of.comm.is_exec)
		return is_accepted_exec(task, record, told);
	return record->type != PERF_RECORD_SAMPLE && record->type != PERF_RECORD_SWITCH &&
	       record->type != PERF_RECORD_MMAP2 && record->type != PERF_RECORD_COMM &&
	       record->type != PERF_RECORD_EXIT && !is_birth;
}

static void handle_record(struct tp_perf_dispatch *feed, const struct tp_perf_record *record)
{
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		if (is_switch_out(feed, record))
			handle_switch_out(feed, record);
		else
			handle_sample(feed, record);
		break;
	case PERF_RECORD_SWITCH:
		handle_switch(feed, record);
		break;
	case PERF_RECORD_MMAP2:
		handle_mapping(feed, record);
		break;
	case PERF_RECORD_FORK:
		handle_fork(feed, record);
		break;
	case PERF_RECORD_COMM:
		handle_comm(feed, record);
		break;
	case PERF_RECORD_EXIT:
		handle_exit(feed, record);
		break;
	case PERF_RECORD_LOST:
		handle_lost(feed, record);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		feed->n_lost += record->of.n_lost;
		gap_grow(&feed->lost, record->time_ns, record->time_ns, record->of.n_lost);
		break;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		gap_grow(&feed->throttled, record->time_ns, record->time_ns, 0);
		break;
	default:
		break;
	}
}

/* For records about a thread: true if it is not one of the target's. A fork belongs to its
 * creator. */
static bool is_outside_target(const struct tp_perf_dispatch *feed,
			      const struct tp_perf_record *record)
{
	bool is_birth = record->type == PERF_RECORD_FORK;
	if (record->type == PERF_RECORD_LOST || record->type == PERF_RECORD_LOST_SAMPLES ||
	    record->type == PERF_RECORD_THROTTLE || record->type == PERF_RECORD_UNTHROTTLE)
		return false;
	const struct tp_task_tree_task *task =
		tp_task_tree_find(feed->tree, is_birth ? record->of.fork.parent_tid : record->tid);
	return !task || task->info.pid != (is_birth ? record->of.fork.parent_pid : record->pid);
}

static void count_outside_target(struct tp_perf_dispatch *feed, const struct tp_perf_record *record)
{
	if (record->type != PERF_RECORD_SWITCH || record->tid <= 0)
		return; /* the idle task is not counted because per-thread events do not report it
			   either */
	feed->n_strange_switches += record->of.change.is_out;
	count_switch(feed, record);
}

void tp_perf_dispatch_record(struct tp_perf_dispatch *feed, const void *bytes, size_t size)
{
	struct tp_perf_record record;
	if (!tp_perf_record_decode(&record, bytes, size, &feed->layout)) {
		feed->n_bad++;
		return;
	}
	if (record.time_ns < feed->since_ns)
		return;
	feed->last_ns = record.time_ns;
	if (feed->is_wide && is_outside_target(feed, &record))
		count_outside_target(feed, &record);
	else if (feed->listeners && !is_accepted(feed, &record))
		feed->n_unheard++;
	else
		handle_record(feed, &record);
	/* Last, because the thread on the CPU was there until the previous record. */
	tp_perf_oncpu_seen(&feed->runs, record.cpu, record.time_ns);
}

static void peek_record(void *context, const void *bytes, size_t size)
{
	struct tp_perf_dispatch *feed = context;
	struct perf_event_header header;
	struct tp_perf_record record;
	memcpy(&header, bytes, sizeof(header));
	if ((header.type != PERF_RECORD_SWITCH && header.type != PERF_RECORD_SWITCH_CPU_WIDE) ||
	    !tp_perf_record_decode(&record, bytes, size, &feed->layout) ||
	    record.time_ns < feed->since_ns)
		return;
	struct tp_task_tree_task *task = tp_task_tree_find(feed->tree, record.tid);
	if (!task || task->info.pid != record.pid || record.time_ns < task->ahead_ns)
		return;
	task->ahead_ns = record.time_ns;
	task->ahead = !record.of.change.is_out        ? TP_TASK_TREE_ON_CPU
		      : record.of.change.is_preempted ? TP_TASK_TREE_PREEMPTED
						      : TP_TASK_TREE_BLOCKED;
}

void tp_perf_dispatch_peek(struct tp_perf_dispatch *feed, struct tp_perf_ring *rings,
			   size_t n_rings)
{
	for (size_t i = 0; feed->runs.is_on && i < n_rings; i++)
		tp_perf_ring_peek(&rings[i], PEEK_MAX, peek_record, feed);
}

static void emit_exiting(struct tp_perf_dispatch *feed, const struct perf_exiting *leaver,
			 uint64_t now_ns)
{
	char reason[120];
	snprintf(reason, sizeof(reason),
		 "%s runs with other rights: the kernel took the events away",
		 tp_strtab_text(&feed->sink->strings, leaver->comm));
	tp_sink_gap(feed->sink, tp_perf_source, reason, leaver->time_ns, now_ns, 0);
}

/* A process whose events ended: by now it is a zombie, gone, or alive without events. Returns true
 * to keep it. */
static bool flush_exiting_one(struct tp_perf_dispatch *feed, struct perf_exiting *leaver,
			      uint64_t now_ns, bool is_last)
{
	if (!leaver->is_alive && !is_last && now_ns - leaver->time_ns < DEATH_WITHIN_NS)
		return true;
	bool was_alive = leaver->is_alive;
	leaver->is_alive = tp_procfs_stat_is_alive(feed->host, leaver->pid, 0);
	if (leaver->is_alive && !was_alive)
		tp_task_tree_mark_stale(feed->tree); /* its children are not reported */
	if (was_alive ? !leaver->is_alive || is_last : leaver->is_alive && is_last)
		emit_exiting(feed, leaver, now_ns);
	if (!leaver->is_alive)
		tp_task_tree_exit(feed->tree, leaver->pid, was_alive ? now_ns : leaver->time_ns);
	return leaver->is_alive;
}

static void flush_exiting(struct tp_perf_dispatch *feed, uint64_t now_ns, bool is_last)
{
	size_t n_kept = 0;
	for (size_t i = 0; i < feed->n_leavers; i++)
		if (flush_exiting_one(feed, &feed->leavers[i], now_ns, is_last))
			feed->leavers[n_kept++] = feed->leavers[i];
	feed->n_leavers = n_kept;
}

void tp_perf_dispatch_flush(struct tp_perf_dispatch *feed, uint64_t now_ns, bool is_last)
{
	gap_emit(feed, &feed->lost, "records were lost: a ring was full");
	gap_emit(feed, &feed->dropped, "stacks were not unwound: a ring was filling");
	gap_emit(feed, &feed->throttled, "the kernel throttled sampling");
	flush_exiting(feed, now_ns, is_last);
}
