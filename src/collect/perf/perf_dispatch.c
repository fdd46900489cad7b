/* Hands each perf record to whom it concerns. */
#include "perf_dispatch.h"

#include "collect/process/procfs_stat.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"
#include "trainprof/collect/host_info.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A set-user-ID program loses its events with the exec itself; other ends so soon are rare. */
#define LEAVES_WITHIN_NS (50 * TP_NS_PER_MS)
/* Two records of one exec are microseconds apart. */
#define SAME_EXEC_NS TP_NS_PER_MS
/* From the record of its end to the zombie: what is alive after that is alive. */
#define DIES_WITHIN_NS (200 * TP_NS_PER_MS)

const char tp_perf_source[] = "perf";

struct perf_leaver {
	pid_t pid;
	uint64_t time_ns; /* when its events ended */
	bool is_alive;    /* it is, without events */
	uint32_t comm;
};

void tp_perf_feed_init(struct tp_perf_feed *feed, const struct tp_host *host, struct tp_tree *tree,
		       struct tp_sink *sink, const struct tp_perf_layout *layout, uint32_t n_cpus)
{
	memset(feed, 0, sizeof(*feed));
	feed->host = host;
	feed->tree = tree;
	feed->sink = sink;
	feed->layout = *layout;
	feed->n_cpus = n_cpus;
	feed->keep_one_in = 1;
	feed->n_switches = tp_alloc((n_cpus + 1) * sizeof(*feed->n_switches));
	tp_perf_runs_init(&feed->runs, tree, sink, n_cpus);
	tp_perf_stacks_init(&feed->stacks, tree, sink);
}

void tp_perf_feed_release(struct tp_perf_feed *feed)
{
	tp_perf_runs_release(&feed->runs);
	tp_perf_stacks_release(&feed->stacks);
	free(feed->n_switches);
	free(feed->leavers);
}

void tp_perf_feed_widen(struct tp_perf_feed *feed, const struct tp_perf_layout *layout,
			uint64_t since_ns)
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

static void gap_put(struct tp_perf_feed *feed, struct tp_perf_gap *gap, const char *reason)
{
	if (!gap->start_ns)
		return;
	tp_sink_gap(feed->sink, tp_perf_source, reason, gap->start_ns, gap->end_ns, gap->n);
	*gap = (struct tp_perf_gap){0};
}

/* Whose event a record is of; 0 when that is not told. */
static pid_t listener_of(const struct tp_perf_feed *feed, const struct tp_perf_record *record)
{
	uint64_t tid;
	if (!feed->listeners || !tp_map_get(feed->listeners, record->event_id, &tid))
		return 0;
	return (pid_t)tid;
}

/* Whom the record is about; one whose birth was lost is born now. NULL for the idle task. */
static struct tp_tree_task *task_of(struct tp_perf_feed *feed, const struct tp_perf_record *record)
{
	struct tp_tree_task *task = tp_tree_find(feed->tree, record->tid);
	if (record->tid <= 0 || record->pid <= 0)
		return NULL;
	if (task && task->info.pid == record->pid)
		return task;
	tp_tree_doubt(feed->tree);
	task = tp_tree_fork(feed->tree, record->tid, record->pid,
			    record->tid != record->pid ? record->pid : 0, record->time_ns);
	if (!feed->is_joining)
		task->listens_to = listener_of(feed, record);
	return task;
}

static bool is_leaving(const struct tp_perf_feed *feed, const struct tp_perf_record *record)
{
	uint64_t ignored;
	return feed->leaves && tp_map_get(feed->leaves, record->event_id, &ignored);
}

/*
 * It stands for no time, so it is no sample among the others. Kept of first threads only, for there
 * phases are; of those that run Python not, whose frames would have to be read at once.
 */
static void feed_leaving(struct tp_perf_feed *feed, const struct tp_perf_record *record)
{
	const struct tp_tree_task *task = task_of(feed, record);
	feed->n_leavings++;
	if (!task || feed->is_paused || feed->drops_stacks || task->followed_ns ||
	    record->tid != record->pid)
		return;
	struct tp_sample sample = tp_perf_stacks_sample(&feed->stacks, task, record, true, NULL);
	sample.flags = TP_SAMPLE_KERNEL | TP_SAMPLE_LEAVING;
	tp_sink_sample(feed->sink, &sample);
}

static void feed_sample(struct tp_perf_feed *feed, const struct tp_perf_record *record)
{
	struct tp_tree_task *task = task_of(feed, record);
	feed->n_samples++;
	feed->n_target_samples += record->tid == feed->target;
	if (!task || feed->is_paused)
		return;
	if (task->followed_ns && record->time_ns >= task->followed_ns)
		return; /* its own event tells more */
	bool is_unwound = !feed->drops_stacks && feed->n_samples % feed->keep_one_in == 0;
	struct tp_sample sample =
		tp_perf_stacks_sample(&feed->stacks, task, record, is_unwound, NULL);
	tp_sink_sample(feed->sink, &sample);
	if (feed->drops_stacks)
		gap_grow(&feed->dropped, record->time_ns, record->time_ns, 1);
}

static void count_switch(struct tp_perf_feed *feed, const struct tp_perf_record *record)
{
	if (record->of.change.is_out)
		feed->n_switches[record->cpu < feed->n_cpus ? record->cpu : feed->n_cpus]++;
}

static void feed_switch(struct tp_perf_feed *feed, const struct tp_perf_record *record)
{
	struct tp_tree_task *task = task_of(feed, record);
	count_switch(feed, record);
	if (!task)
		return;
	if (!record->of.change.is_out)
		tp_perf_runs_in(&feed->runs, task, record->cpu, record->time_ns);
	else
		tp_perf_runs_out(&feed->runs, task, record->cpu, record->time_ns,
				 record->of.change.is_preempted ? TP_RUN_PREEMPTED
								: TP_RUN_BLOCKED);
}

static void feed_fork(struct tp_perf_feed *feed, const struct tp_perf_record *record)
{
	struct tp_tree_task *parent = tp_tree_find(feed->tree, record->of.fork.parent_tid);
	if (parent)
		parent->n_births++;
	/* One that is born while its creator is being joined gets the half of its events that is
	 * open by then: a birth proves something only when the creator's own events tell it. */
	bool is_whole = parent && parent->listens_to == listener_of(feed, record);
	struct tp_tree_task *task = tp_tree_fork(feed->tree, record->tid, record->pid,
						 record->of.fork.parent_tid, record->time_ns);
	if (!task->listens_to && (is_whole || !feed->is_joining))
		task->listens_to = listener_of(feed, record);
	if (!feed->runs.is_on)
		return;
	task->where = TP_TREE_PREEMPTED; /* it may run and has not yet */
	task->where_since_ns = record->time_ns;
}

/* The other threads end here without a record of their own when one of them execs. */
static void feed_exec(struct tp_perf_feed *feed, const struct tp_perf_record *record)
{
	size_t cursor = 0;
	struct tp_tree_task *task;
	while ((task = tp_tree_next(feed->tree, &cursor)))
		if (task->info.pid == record->pid && task->info.tid != record->pid)
			tp_perf_runs_forget(&feed->runs, task, record->time_ns);
	tp_tree_exec(feed->tree, record->pid, record->time_ns);
	task = tp_tree_find(feed->tree, record->pid);
	if (task->where != TP_TREE_ON_CPU)
		tp_perf_runs_in(&feed->runs, task, record->cpu, record->time_ns);
}

static void feed_comm(struct tp_perf_feed *feed, const struct tp_perf_record *record)
{
	if (!task_of(feed, record))
		return;
	if (record->of.comm.is_exec)
		feed_exec(feed, record);
	tp_tree_comm(feed->tree, record->tid, record->of.comm.name);
}

static void feed_exit(struct tp_perf_feed *feed, const struct tp_perf_record *record)
{
	struct tp_tree_task *task = tp_tree_find(feed->tree, record->tid);
	if (!task)
		return;
	tp_perf_runs_out(&feed->runs, task, record->cpu, record->time_ns, TP_RUN_EXITED);
	const struct tp_task *info = &task->info;
	if (info->tid == info->pid && record->time_ns - info->exec_ns < LEAVES_WITHIN_NS &&
	    tp_task_stat_is_alive(feed->host, info->pid, 0)) {
		struct perf_leaver leaver = {.pid = info->pid, .time_ns = record->time_ns};
		leaver.comm = info->comm;
		TP_ARRAY_PUSH(feed->leavers, feed->n_leavers, feed->leavers_capacity) = leaver;
		task->where = TP_TREE_UNKNOWN;
		return;
	}
	tp_tree_exit(feed->tree, record->tid, record->time_ns);
}

static void feed_lost(struct tp_perf_feed *feed, const struct tp_perf_record *record)
{
	uint64_t from_ns = tp_perf_runs_lost(&feed->runs, record->cpu, record->time_ns);
	feed->n_lost += record->of.n_lost;
	gap_grow(&feed->lost, from_ns, record->time_ns, record->of.n_lost);
	tp_tree_doubt(feed->tree); /* births may be among them */
}

static void feed_mapping(struct tp_perf_feed *feed, const struct tp_perf_record *record)
{
	struct tp_tree_task *task = task_of(feed, record);
	if (task)
		tp_maps_add(task->maps, &record->of.mapping);
}

/* Of an exec by another thread than the first: that one's events go on under the first one's tid.
 */
static bool hears_exec(struct tp_tree_task *task, const struct tp_perf_record *record, pid_t told)
{
	if (record->time_ns - task->info.exec_ns < SAME_EXEC_NS)
		return false; /* the same, told twice */
	task->listens_to = told;
	return true;
}

/* Is the record of the event that tells of its thread? See struct tp_perf_feed.listeners. */
static bool is_heard(struct tp_perf_feed *feed, const struct tp_perf_record *record)
{
	pid_t told = listener_of(feed, record);
	bool is_birth = record->type == PERF_RECORD_FORK;
	struct tp_tree_task *task =
		tp_tree_find(feed->tree, is_birth ? record->of.fork.parent_tid : record->tid);
	if (!told || !task || !task->listens_to || task->listens_to == told)
		return true;
	if (record->type == PERF_RECORD_COMM && record->of.comm.is_exec)
		return hears_exec(task, record, told);
	return record->type != PERF_RECORD_SAMPLE && record->type != PERF_RECORD_SWITCH &&
	       record->type != PERF_RECORD_MMAP2 && record->type != PERF_RECORD_COMM &&
	       record->type != PERF_RECORD_EXIT && !is_birth;
}

static void feed_one(struct tp_perf_feed *feed, const struct tp_perf_record *record)
{
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		if (is_leaving(feed, record))
			feed_leaving(feed, record);
		else
			feed_sample(feed, record);
		break;
	case PERF_RECORD_SWITCH:
		feed_switch(feed, record);
		break;
	case PERF_RECORD_MMAP2:
		feed_mapping(feed, record);
		break;
	case PERF_RECORD_FORK:
		feed_fork(feed, record);
		break;
	case PERF_RECORD_COMM:
		feed_comm(feed, record);
		break;
	case PERF_RECORD_EXIT:
		feed_exit(feed, record);
		break;
	case PERF_RECORD_LOST:
		feed_lost(feed, record);
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

/* Of records that tell of a thread: is it none of the target's? A birth is one of its creator. */
static bool is_strange(const struct tp_perf_feed *feed, const struct tp_perf_record *record)
{
	bool is_birth = record->type == PERF_RECORD_FORK;
	if (record->type == PERF_RECORD_LOST || record->type == PERF_RECORD_LOST_SAMPLES ||
	    record->type == PERF_RECORD_THROTTLE || record->type == PERF_RECORD_UNTHROTTLE)
		return false;
	const struct tp_tree_task *task =
		tp_tree_find(feed->tree, is_birth ? record->of.fork.parent_tid : record->tid);
	return !task || task->info.pid != (is_birth ? record->of.fork.parent_pid : record->pid);
}

static void count_stranger(struct tp_perf_feed *feed, const struct tp_perf_record *record)
{
	if (record->type != PERF_RECORD_SWITCH || record->tid <= 0)
		return; /* the idle task is not counted where it is not told either */
	feed->n_strange_switches += record->of.change.is_out;
	count_switch(feed, record);
}

void tp_perf_feed_record(struct tp_perf_feed *feed, const void *bytes, size_t size)
{
	struct tp_perf_record record;
	if (!tp_perf_record_decode(&record, bytes, size, &feed->layout)) {
		feed->n_bad++;
		return;
	}
	if (record.time_ns < feed->since_ns)
		return;
	feed->last_ns = record.time_ns;
	if (feed->is_wide && is_strange(feed, &record))
		count_stranger(feed, &record);
	else if (feed->listeners && !is_heard(feed, &record))
		feed->n_unheard++;
	else
		feed_one(feed, &record);
	/* Afterwards: who was on the CPU was so until the record before. */
	tp_perf_runs_seen(&feed->runs, record.cpu, record.time_ns);
}

static void put_leaver(struct tp_perf_feed *feed, const struct perf_leaver *leaver, uint64_t now_ns)
{
	char reason[120];
	snprintf(reason, sizeof(reason),
		 "%s runs with other rights: the kernel took the events away",
		 tp_strtab_text(&feed->sink->strings, leaver->comm));
	tp_sink_gap(feed->sink, tp_perf_source, reason, leaver->time_ns, now_ns, 0);
}

/* One whose events ended: by now it is a zombie, gone, or alive without events. True to keep it. */
static bool settle_leaver(struct tp_perf_feed *feed, struct perf_leaver *leaver, uint64_t now_ns,
			  bool is_last)
{
	if (!leaver->is_alive && !is_last && now_ns - leaver->time_ns < DIES_WITHIN_NS)
		return true;
	bool was_alive = leaver->is_alive;
	leaver->is_alive = tp_task_stat_is_alive(feed->host, leaver->pid, 0);
	if (leaver->is_alive && !was_alive)
		tp_tree_doubt(feed->tree); /* its children are not reported */
	if (was_alive ? !leaver->is_alive || is_last : leaver->is_alive && is_last)
		put_leaver(feed, leaver, now_ns);
	if (!leaver->is_alive)
		tp_tree_exit(feed->tree, leaver->pid, was_alive ? now_ns : leaver->time_ns);
	return leaver->is_alive;
}

static void settle_leavers(struct tp_perf_feed *feed, uint64_t now_ns, bool is_last)
{
	size_t n_kept = 0;
	for (size_t i = 0; i < feed->n_leavers; i++)
		if (settle_leaver(feed, &feed->leavers[i], now_ns, is_last))
			feed->leavers[n_kept++] = feed->leavers[i];
	feed->n_leavers = n_kept;
}

void tp_perf_feed_settle(struct tp_perf_feed *feed, uint64_t now_ns, bool is_last)
{
	gap_put(feed, &feed->lost, "records were lost: a ring was full");
	gap_put(feed, &feed->dropped, "stacks were not unwound: a ring was filling");
	gap_put(feed, &feed->throttled, "the kernel throttled sampling");
	settle_leavers(feed, now_ns, is_last);
}
