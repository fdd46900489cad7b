/* SPDX-License-Identifier: Apache-2.0 */
/* Collector "proc": inspects threads that are off CPU, about fifty times per second at random times
 * that no loop of the target can be synchronous with, and reads their accounting about once per
 * second. */
#include "collect/machine/stage_clock.h"
#include "collect/process/affinity.h"
#include "collect/process/other_programs.h"
#include "collect/process/process_access.h"
#include "collect/process/procfs.h"
#include "collect/process/task_tree.h"
#include "collect/registry.h"
#include "oncpu_estimate.h"
#include "poll_pause.h"
#include "stop_watch.h"
#include "task_accounting.h"
#include "thread_inspect.h"
#include "typical_wait.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"
#include "trainprof/collect/collector.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	PATH_SIZE = 4096,
	OPEN_FILES_MAX = 1024,
	INSPECTIONS_PER_POLL = 64, /* limits the volume: 3200 samples per second at 50 Hz */
	PEEKS_PER_POLL = 4,
};

#define POLL_BUDGET_NS (2 * TP_NS_PER_MS)
#define PEEK_PERIOD_NS (TP_NS_PER_S / 10)
#define CPU_WAIT_RATIO 0.02 /* share of its time that a thread is runnable without a CPU */

struct offcpu;

/* Data kept for a thread: tp_task_tree_task.poll_state. */
struct offcpu_watch {
	struct offcpu *owner;
	pid_t pid;
	pid_t tid;
	struct tp_inspect_state looked;
	struct tp_fd_cache_slot sched_file;
	struct tp_task_account account;
	struct tp_oncpu_estimate share;
	struct tp_typical_wait usual_wait;
	struct tp_stop_watch stop; /* for a leader: about its process */
	uint64_t look_ns;          /* time of the last inspection */
	uint64_t stood_ns; /* when the thread was preempted, at the last read in that state */
	uint64_t glance_due_ns;
	bool was_looked_at;
	bool is_put_off; /* inspecting this wait exceeded the budget so far */
	uint64_t put_off_runs;
	struct tp_emitted_wait last;
};

struct offcpu {
	struct tp_collector base;
	const struct tp_host *host;
	const struct tp_collect_config *config;
	struct tp_collect_config *actual;
	struct tp_sink *sink;
	struct tp_task_tree *tree;
	struct tp_stage_clock *stages;
	struct tp_inspector looker;
	struct tp_task_accounting accounts;
	struct tp_other_programs others;
	struct tp_affinity affinity;
	pid_t target;
	uint64_t next_scan_ns;
	struct tp_poll_pause pause;
	bool has_new_wait; /* found by this poll */
	bool is_paused;
	size_t cursors[2]; /* leaders, other threads: position of the last poll */
	uint64_t started_ns;
	uint64_t n_polls;
	uint64_t n_put;
	uint64_t n_looks;
	uint64_t n_skips;  /* inspections that exceeded the budget */
	uint64_t n_missed; /* waits that ended before the budget allowed to inspect them */
	uint64_t first_miss_ns;
	uint64_t last_miss_ns;
};

static void watch_release(void *poll_state)
{
	struct offcpu_watch *watch = poll_state;
	tp_stop_watch_finish(&watch->stop, watch->owner->sink, watch->pid);
	tp_inspect_state_release(&watch->owner->looker, &watch->looked);
	tp_fd_cache_drop(&watch->owner->looker.shelf, &watch->sched_file);
	if (watch->tid == watch->pid)
		tp_task_accounting_remove(&watch->owner->accounts, watch->pid);
	free(watch);
}

static struct offcpu_watch *watch_of(struct offcpu *self, struct tp_task_tree_task *task)
{
	if (!task->poll_state) {
		struct offcpu_watch *watch = tp_alloc(sizeof(*watch));
		watch->owner = self;
		watch->pid = task->info.pid;
		watch->tid = task->info.tid;
		task->poll_state = watch;
	}
	return task->poll_state;
}

/* Without switch records: returns whether the thread is on a CPU, waits for one, or has just ended
 * a wait. */
static enum tp_state state_of_running(struct offcpu *self, struct offcpu_watch *watch,
				      double elapsed_ns)
{
	char below[96];
	char path[PATH_SIZE];
	char text[128];
	struct tp_procfs_schedstat now;
	path[0] = '\0';
	if (!watch->sched_file.is_open) {
		snprintf(below, sizeof(below), "/proc/%d/task/%d/schedstat", (int)watch->pid,
			 (int)watch->tid);
		tp_host_path(self->host, path, sizeof(path), below);
	}
	if (!tp_fd_cache_read(&self->looker.shelf, &watch->sched_file, path, text, sizeof(text)) ||
	    !tp_procfs_schedstat(&now, text))
		return TP_STATE_ON_CPU;
	return tp_oncpu_estimate_state(&watch->share, &now, elapsed_ns);
}

/* According to the records read so far, which are late. */
static bool is_runnable(const struct tp_task_tree_task *task)
{
	return task->where == TP_TASK_TREE_ON_CPU || task->where == TP_TASK_TREE_PREEMPTED;
}

/* True if the thread is runnable without a CPU for a significant share of its time. */
static bool is_waiting_for_cpu(const struct offcpu_watch *watch)
{
	return watch->account.delay_ratio > CPU_WAIT_RATIO;
}

/* Returns false if there is nothing to emit. */
static bool emit_wait(struct offcpu *self, const struct tp_task_tree_task *task,
		      struct offcpu_watch *watch, uint64_t time_ns, double elapsed_ns)
{
	const struct tp_wait_info *sight = &watch->looked.sight;
	struct tp_sample sample = {
		.task = task->info.id,
		.state = sight->state,
		.cause = sight->cause,
		.flags = TP_SAMPLE_POLLED,
		.stack = sight->stack,
		.target = sight->target,
		.cpu = task->cpu,
		.syscall = sight->syscall,
		.time_ns = time_ns,
		.address = sight->address,
	};
	/* While the thread runs, its own samples give more. But records are late: by now it may
	 * wait for a CPU. Then it does not move, and its Python frames are valid. */
	if (sight->state == TP_STATE_RUNNABLE && is_runnable(task) &&
	    !(sight->stack && is_waiting_for_cpu(watch)))
		return false;
	if (sight->state == TP_STATE_BLOCKED)
		tp_typical_wait_add(&watch->usual_wait, sight);
	if (sight->state == TP_STATE_RUNNABLE && task->where == TP_TASK_TREE_UNKNOWN)
		sample.state = state_of_running(self, watch, elapsed_ns);
	/* If nothing is known of the wait, the thread's usual wait represents the time. */
	if (sample.state == TP_STATE_BLOCKED && sight->state != TP_STATE_BLOCKED &&
	    !tp_typical_wait_apply(&watch->usual_wait, &sample))
		return false;
	tp_sink_sample(self->sink, &sample);
	watch->last.time_ns = time_ns;
	watch->last.state = sight->state;
	self->n_put++;
	return true;
}

static bool has_python(const struct offcpu *self, const struct tp_task_tree_task *task)
{
	const struct tp_python_processes *pythons = self->looker.pythons;
	return pythons && tp_python_processes_has(pythons, task);
}

/* True if the Python frames of a preempted thread shall be read: nothing else can be read of a
 * thread that waits for a CPU. Only for first threads, which have the phases. The thread does not
 * move meanwhile, so one inspection suffices. */
static bool needs_read_preempted(const struct offcpu *self, const struct tp_task_tree_task *task,
				 const struct offcpu_watch *watch)
{
	return task->info.tid == task->info.pid && is_waiting_for_cpu(watch) &&
	       has_python(self, task) && watch->stood_ns != tp_task_tree_current_ns(task);
}

/*
 * True if an inspection can bring something new. With switch records these are only threads that
 * have been on a CPU since the last inspection that found them waiting: one that found them running
 * says nothing about the wait that followed. A thread that is on a CPU at this moment is covered by
 * its own samples. Records do not contain wake-ups: if threads queue for CPUs, only inspections
 * show when a wait is over.
 */
static bool needs_inspection(const struct offcpu *self, const struct tp_task_tree_task *task,
			     const struct offcpu_watch *watch, uint64_t now_ns)
{
	enum tp_task_tree_where now = tp_task_tree_current(task);
	if (is_runnable(task) && now == TP_TASK_TREE_PREEMPTED)
		return needs_read_preempted(self, task, watch);
	if (is_runnable(task) && now == TP_TASK_TREE_ON_CPU)
		return has_python(self, task) && !task->followed_ns;
	if (task->where != TP_TASK_TREE_BLOCKED)
		return true;
	return !watch->was_looked_at || watch->last.n_runs != task->n_runs ||
	       !tp_emitted_wait_is_current(&watch->last, now_ns) ||
	       (is_waiting_for_cpu(watch) && watch->looked.sight.state == TP_STATE_BLOCKED);
}

/* Counts a postponed wait as missed if it is over and another one has begun. */
static void flush_skipped(struct offcpu *self, const struct tp_task_tree_task *task,
			  struct offcpu_watch *watch, uint64_t now_ns)
{
	if (watch->is_put_off && watch->put_off_runs != task->n_runs) {
		self->n_missed++;
		self->first_miss_ns = self->first_miss_ns ? self->first_miss_ns : now_ns;
		self->last_miss_ns = now_ns;
	}
	watch->is_put_off = false;
}

/* Postpones the inspection: the next poll begins here. */
static void skip(struct offcpu *self, const struct tp_task_tree_task *task,
		 struct offcpu_watch *watch, uint64_t now_ns)
{
	flush_skipped(self, task, watch, now_ns);
	self->n_skips++;
	watch->is_put_off =
		task->where == TP_TASK_TREE_BLOCKED && watch->last.n_runs != task->n_runs;
	watch->put_off_runs = task->n_runs;
}

/* True if the thread runs or waits for a CPU and its Python frames were read. */
static bool is_in_python(const struct tp_wait_info *sight)
{
	return sight->state == TP_STATE_RUNNABLE && sight->stack;
}

static void inspect(struct offcpu *self, struct tp_task_tree_task *task, struct offcpu_watch *watch)
{
	uint64_t time_ns = tp_clock_now_ns();
	flush_skipped(self, task, watch, time_ns);
	self->n_looks++;
	watch->looked.reads_anew = is_waiting_for_cpu(watch);
	if (!tp_inspect_thread(&self->looker, &watch->looked, task, time_ns))
		return;
	if (is_in_python(&watch->looked.sight) &&
	    tp_task_tree_current(task) == TP_TASK_TREE_PREEMPTED)
		watch->stood_ns = tp_task_tree_current_ns(task);
	/* The same stay off CPU, already emitted. */
	bool is_known =
		task->where != TP_TASK_TREE_UNKNOWN && !is_in_python(&watch->looked.sight) &&
		tp_emitted_wait_lasts(&watch->last, task->n_runs, watch->looked.sight.state);
	bool is_recent = is_known && tp_emitted_wait_is_current(&watch->last, time_ns);
	double elapsed_ns = watch->look_ns ? (double)(time_ns - watch->look_ns) : 0;
	watch->look_ns = time_ns;
	watch->was_looked_at = true;
	if (watch->looked.sight.state == TP_STATE_BLOCKED)
		watch->last.n_runs = task->n_runs;
	if (is_recent || !emit_wait(self, task, watch, time_ns, elapsed_ns))
		return;
	/* Threads of a pool that has nothing to do wait all the time: more polls find no more of
	 * that. */
	if (!is_known && !is_runnable(task))
		self->has_new_wait = true;
}

/* Limits of one poll. Time is CPU time: while other programs have the CPU none is used. */
struct poll_budget {
	const struct tp_stage_clock *stages;
	uint64_t began_ns;
	uint64_t limit_ns;
	unsigned n_looks;
};

static bool has_timed_out(const struct poll_budget *poll_budget)
{
	return tp_stage_used_ns(poll_budget->stages, poll_budget->began_ns) >=
	       poll_budget->limit_ns;
}

static bool is_used_up(const struct poll_budget *poll_budget)
{
	return poll_budget->n_looks == 0 || has_timed_out(poll_budget);
}

/* Visits the leaders, or the other threads, once, starting where the last poll stopped. Threads
 * beyond the budget are counted and are visited first next time. */
static void poll_round(struct offcpu *self, bool of_leaders, struct poll_budget *poll_budget,
		       uint64_t now_ns)
{
	size_t *cursor = &self->cursors[of_leaders];
	size_t n_left = tp_task_tree_alive(self->tree);
	size_t stopped = *cursor;
	bool is_over = false;
	size_t at = *cursor;
	for (bool has_wrapped = false; n_left > 0;) {
		struct tp_task_tree_task *task = tp_task_tree_next(self->tree, &at);
		if (!task) {
			if (has_wrapped)
				break;
			has_wrapped = true;
			at = 0;
			continue;
		}
		n_left--;
		if ((task->info.tid == task->info.pid) != of_leaders)
			continue;
		struct offcpu_watch *watch = watch_of(self, task);
		if (is_runnable(task) && is_waiting_for_cpu(watch))
			self->pause.is_crowded = true;
		if (!needs_inspection(self, task, watch, now_ns))
			continue;
		is_over = is_over || is_used_up(poll_budget);
		if (is_over) {
			skip(self, task, watch, now_ns);
			continue;
		}
		inspect(self, task, watch);
		poll_budget->n_looks--;
		stopped = at;
	}
	*cursor = stopped;
}

/* Reads the accounting that is due, as time allows; `is_last`: all of it, without a time limit. */
static void poll_accounts(struct offcpu *self, const struct poll_budget *poll_budget,
			  uint64_t now_ns, bool is_last)
{
	size_t cursor = 0;
	struct tp_task_tree_task *task;
	while ((task = tp_task_tree_next(self->tree, &cursor))) {
		struct offcpu_watch *watch = watch_of(self, task);
		if (!is_last && watch->account.due_ns > now_ns)
			continue;
		if (!is_last && has_timed_out(poll_budget))
			return;
		tp_task_accounting_read(&self->accounts, &watch->account, task, now_ns, is_last);
	}
}

/* A process may end at any time, and its accounting with it. The target is excluded: it is a zombie
 * until we reap it. */
static void poll_peeks(struct offcpu *self, uint64_t now_ns)
{
	unsigned n_left = PEEKS_PER_POLL;
	size_t cursor = 0;
	struct tp_task_tree_task *task;
	while (n_left && (task = tp_task_tree_next(self->tree, &cursor))) {
		if (task->info.tid != task->info.pid || task->info.pid == self->target)
			continue;
		struct offcpu_watch *watch = watch_of(self, task);
		if (watch->glance_due_ns > now_ns)
			continue;
		watch->glance_due_ns = now_ns + PEEK_PERIOD_NS;
		n_left -= tp_task_accounting_peek(&self->accounts, task);
	}
}

static void poll_stops(struct offcpu *self, uint64_t now_ns)
{
	size_t cursor = 0;
	struct tp_task_tree_task *task;
	while ((task = tp_task_tree_next(self->tree, &cursor)))
		if (task->info.tid == task->info.pid)
			tp_stop_watch_poll(&watch_of(self, task)->stop, self->sink, self->host,
					   task, now_ns);
}

/* Half of the CPU time allowed for measuring is for this collector. */
static void offcpu_arm(struct offcpu *self)
{
	double share = self->config->max_overhead_ratio / 2 * self->host->info.n_allowed;
	self->base.due_ns = tp_clock_now_ns() +
			    tp_poll_pause_next_ns(&self->pause, self->config->poll_rate_hz, share);
}

/* Updates the list of threads. If events report them, this is an occasional correction; otherwise
 * it is the only way, and costs as much as five inspections: children are not searched for more
 * often than this anyway. */
static void poll_tree(struct offcpu *self, uint64_t now_ns)
{
	const struct tp_task_tree_task *target = tp_task_tree_find(self->tree, self->target);
	bool is_fed = target && target->where != TP_TASK_TREE_UNKNOWN;
	if (now_ns < self->next_scan_ns)
		return;
	self->next_scan_ns = now_ns + (is_fed ? TP_NS_PER_S : TP_NS_PER_S / 10);
	tp_task_tree_scan(self->tree, self->target, now_ns);
}

static enum tp_status offcpu_sample(struct tp_collector *base, uint64_t now_ns,
				    struct tp_error *err)
{
	struct offcpu *self = (struct offcpu *)base;
	(void)err;
	uint64_t began_ns = tp_clock_now_ns();
	enum tp_stage stage = tp_stage_enter(self->stages, TP_STAGE_PROC);
	poll_tree(self, now_ns);
	tp_stage_enter(self->stages, stage);
	if (!self->is_paused) {
		tp_task_tree_notify_poll(self->tree);
		self->pause.is_crowded = false;
		self->has_new_wait = false;
		struct poll_budget poll_budget = {self->stages, began_ns, POLL_BUDGET_NS,
						  INSPECTIONS_PER_POLL};
		poll_round(self, true, &poll_budget, now_ns);
		poll_round(self, false, &poll_budget, now_ns);
		poll_budget.limit_ns += POLL_BUDGET_NS / 2;
		stage = tp_stage_enter(self->stages, TP_STAGE_PROC);
		poll_accounts(self, &poll_budget, now_ns, false);
		poll_peeks(self, now_ns);
		poll_stops(self, now_ns);
		tp_other_programs_read(&self->others, now_ns, false);
		if (self->host->is_live)
			tp_affinity_read(&self->affinity, self->tree, self->sink, now_ns);
		tp_stage_enter(self->stages, stage);
		self->n_polls++;
		tp_poll_pause_add(&self->pause, (double)tp_stage_used_ns(self->stages, began_ns),
				  self->has_new_wait);
	}
	offcpu_arm(self);
	return TP_OK;
}

static enum tp_status offcpu_open(struct tp_collector **out,
				  const struct tp_collect_context *context, struct tp_error *err)
{
	struct offcpu *self = tp_alloc(sizeof(*self));
	self->base.type = &tp_offcpu_collector;
	self->host = context->host;
	self->config = context->config;
	self->actual = context->actual;
	self->sink = context->sink;
	self->tree = context->tree;
	self->stages = context->stages;
	self->pause.random = tp_clock_now_ns() | 1;
	(void)err;
	tp_process_access_probe(self->host, &self->base.availability);
	tp_inspector_init(&self->looker, self->host, self->sink, context->pythons,
			  self->config->stack_bytes);
	self->looker.stages = self->stages;
	tp_task_tree_set_release(self->tree, watch_release);
	tp_other_programs_init(&self->others, self->host, self->sink, self->tree);
	*out = &self->base;
	return TP_OK;
}

static enum tp_status offcpu_start(struct tp_collector *base, pid_t target, struct tp_error *err)
{
	struct offcpu *self = (struct offcpu *)base;
	(void)err;
	self->target = target;
	self->started_ns = tp_clock_now_ns();
	if (self->config->is_attaching) /* access may differ from that to children */
		tp_process_access_probe_pid(self->host, target, &base->availability);
	/* At this point, because the rings and files of the other collectors are open by now. */
	self->looker.shelf.capacity = tp_fd_cache_capacity(OPEN_FILES_MAX);
	tp_task_accounting_init(&self->accounts, self->host, self->sink, self->tree,
				self->started_ns);
	offcpu_arm(self);
	return TP_OK;
}

/* Reads exact accounting at both ends of the measured time. */
static void offcpu_pause(struct tp_collector *base, bool is_paused, uint64_t now_ns)
{
	struct offcpu *self = (struct offcpu *)base;
	self->is_paused = is_paused;
	if (!self->started_ns)
		return;
	poll_accounts(self, NULL, now_ns, true);
	tp_other_programs_read(&self->others, now_ns, true);
}

/* Emits the tasks once more, with their final CPU times. Nothing is emitted after this. */
static void emit_final_tasks(struct offcpu *self)
{
	size_t cursor = 0;
	const struct tp_task_tree_task *task;
	while ((task = tp_task_tree_next(self->tree, &cursor))) {
		struct offcpu_watch *watch = task->poll_state;
		if (watch)
			tp_stop_watch_finish(&watch->stop, self->sink, watch->pid);
		if (task->info.tid == task->info.pid)
			tp_task_accounting_remove(&self->accounts, task->info.pid);
		tp_sink_task(self->sink, &task->info);
	}
}

/* Inspections are a sample: fewer of them make shares coarser, not wrong, so nothing counts as
 * lost. But the report shall say when they were few. */
static void emit_cache_miss_counts(struct offcpu *self)
{
	char reason[120];
	if (self->n_missed * 10 <= self->n_looks)
		return;
	snprintf(reason, sizeof(reason), "looked at %llu waits and had no time for %llu",
		 (unsigned long long)self->n_looks, (unsigned long long)self->n_missed);
	tp_sink_gap(self->sink, self->base.type->name, reason, self->first_miss_ns,
		    self->last_miss_ns, 0);
}

static enum tp_status offcpu_stop(struct tp_collector *base, uint64_t now_ns, struct tp_error *err)
{
	struct offcpu *self = (struct offcpu *)base;
	(void)err;
	poll_accounts(self, NULL, now_ns, true);
	tp_other_programs_read(&self->others, now_ns, true);
	emit_final_tasks(self);
	emit_cache_miss_counts(self);
	double elapsed_ns = (double)(now_ns - self->started_ns);
	double afforded = (double)self->n_looks / fmax((double)(self->n_looks + self->n_skips), 1);
	double rate_hz =
		(double)self->n_polls * afforded * (double)TP_NS_PER_S / fmax(elapsed_ns, 1);
	if (self->actual && self->n_looks && elapsed_ns > (double)TP_NS_PER_S &&
	    rate_hz < self->config->poll_rate_hz * 0.9)
		self->actual->poll_rate_hz = rate_hz;
	tp_sink_source(self->sink, base->type->name, base->type->summary, &base->availability,
		       self->n_put + self->accounts.n_put + self->others.n_put +
			       self->affinity.n_put,
		       0);
	return TP_OK;
}

static void offcpu_close(struct tp_collector *base)
{
	struct offcpu *self = (struct offcpu *)base;
	size_t cursor = 0;
	struct tp_task_tree_task *task;
	while ((task = tp_task_tree_next(self->tree, &cursor))) {
		if (task->poll_state)
			watch_release(task->poll_state);
		task->poll_state = NULL;
	}
	tp_task_tree_set_release(self->tree, NULL);
	tp_task_accounting_release(&self->accounts);
	tp_inspector_release(&self->looker);
	tp_other_programs_release(&self->others);
	tp_affinity_release(&self->affinity);
	free(self);
}

const struct tp_collector_type tp_offcpu_collector = {
	.name = "proc",
	.summary = "CPU time and I/O of each thread, and what it waits for",
	.gains = "why threads wait, and their CPU time as the kernel counts it",
	.probe = tp_process_access_probe,
	.open = offcpu_open,
	.start = offcpu_start,
	.sample = offcpu_sample,
	.pause = offcpu_pause,
	.stop = offcpu_stop,
	.stage = TP_STAGE_OFFCPU,
	.close = offcpu_close,
};
