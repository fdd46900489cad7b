/* SPDX-License-Identifier: Apache-2.0 */
/* Collector "breakpoints": exact times of steps, from the processor's debug registers. */
#include "collect/callstack/python_processes.h"
#include "collect/machine/availability.h"
#include "collect/machine/stage_clock.h"
#include "collect/perf/perf_event.h"
#include "collect/registry.h"
#include "counter_watch.h"
#include "entry_watch.h"
#include "watch_list.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/collect/collector.h"
#include "trainprof/stack/maps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define TP_LOG_DOMAIN "collect"
#include "trainprof/base/log.h"

/* The share of the allowed overhead that may be spent on the times of steps: 0.1 % of a thread's
 * time with an allowed overhead of 1 %. */
static const double budget_share = 0.1;

#define LIST_PERIOD_NS (200 * TP_NS_PER_MS)

enum { N_CALIBRATION = 16 };

struct watch_collector {
	struct tp_collector base;
	const struct tp_collect_context *context;
	struct tp_watch_list list;
	struct tp_counter_watch counters;
	struct tp_entry_watch entries;
	struct tp_map native_tids; /* task of a native program's first thread -> tid */
	uint64_t listed_ns;        /* time when they were listed */
	bool is_started;
	bool is_paused;
};

static void set_failure(struct tp_availability *out, const struct tp_host *host, int failure)
{
	out->presence = failure == ENOSPC                       ? TP_PRESENCE_IN_USE
			: failure == EPERM || failure == EACCES ? TP_PRESENCE_NO_PERMISSION
								: TP_PRESENCE_NO_DEVICE;
	snprintf(out->reason, sizeof(out->reason), "%s", tp_breakpoint_failure_text(failure));
	if (failure == EACCES && host->perf_paranoid > 2)
		snprintf(out->remedy, sizeof(out->remedy),
			 "sudo sysctl kernel.perf_event_paranoid=2");
}

static void watch_probe(const struct tp_host *host, struct tp_availability *out)
{
	int failure = 0;
	*out = (struct tp_availability){.presence = TP_PRESENCE_PRESENT};
	if (!host->is_live) {
		out->presence = TP_PRESENCE_NO_DEVICE;
		snprintf(out->reason, sizeof(out->reason), "a recorded machine");
		return;
	}
	/* Source "perf" reports the reason, and the same remedy applies here. */
	if (tp_perf_test_open(false) != 0) {
		out->presence = TP_PRESENCE_NO_DEVICE;
		snprintf(out->reason, sizeof(out->reason), "perf events cannot be opened");
		return;
	}
	(void)tp_breakpoint_cost_ns(1, &failure);
	if (failure)
		set_failure(out, host, failure);
}

static enum tp_status watch_open(struct tp_collector **out,
				 const struct tp_collect_context *context, struct tp_error *err)
{
	(void)err;
	struct watch_collector *self = tp_alloc(sizeof(*self));
	self->base.type = &tp_watch_collector;
	self->context = context;
	*out = &self->base;
	return TP_OK;
}

static bool is_at(const void *context, const struct tp_task_tree_task *task, uint64_t address)
{
	const struct watch_collector *self = context;
	return tp_python_processes_count_is_at(self->context->pythons, task, address);
}

/* A forked process without an exec is mostly a loader's worker: its counters are no steps. */
static bool is_forked(const struct watch_collector *self, const struct tp_task_tree_task *task)
{
	const struct tp_task_tree_task *leader =
		tp_task_tree_find(self->context->tree, task->info.pid);
	return leader && leader->info.exec_ns == 0 && leader->info.parent != TP_NO_TASK;
}

static void on_counters(void *context, const struct tp_task_tree_task *task,
			const struct tp_python_counter *counters, const uint32_t *names, size_t n,
			uint64_t now_ns)
{
	struct watch_collector *self = context;
	if (!self->is_paused && !is_forked(self, task))
		tp_counter_watch_update(&self->counters, task, counters, names, n, now_ns, is_at,
					self);
}

static bool find_address(void *context, const struct tp_task_tree_task *task, const char *path,
			 uint64_t start, uint64_t *address)
{
	(void)context;
	return task->maps && tp_maps_address(task->maps, path, start, address);
}

static void on_record(void *context, const struct tp_record *record)
{
	struct watch_collector *self = context;
	uint64_t tid;
	if (record->kind == TP_RECORD_SAMPLE && !(record->of.sample.flags & TP_SAMPLE_SWITCH_OUT) &&
	    tp_map_get(&self->native_tids, record->of.sample.task, &tid))
		tp_entry_watch_add(&self->entries, &record->of.sample, (pid_t)tid);
	else if (record->kind == TP_RECORD_MARK && record->of.mark.kind == TP_MARK_STEP)
		self->entries.is_off = true;
}

static void list_native(struct watch_collector *self, uint64_t now_ns)
{
	const struct tp_collect_context *context = self->context;
	const struct tp_task_tree_task *task;
	size_t cursor = 0;
	if (now_ns - self->listed_ns < LIST_PERIOD_NS)
		return;
	self->listed_ns = now_ns;
	while ((task = tp_task_tree_next(context->tree, &cursor)))
		if (task->info.tid == task->info.pid && !is_forked(self, task) &&
		    !(context->pythons && tp_python_processes_has(context->pythons, task)))
			tp_map_set(&self->native_tids, task->info.id, (uint64_t)task->info.tid);
}

static enum tp_status watch_start(struct tp_collector *base, pid_t target, struct tp_error *err)
{
	struct watch_collector *self = (struct watch_collector *)base;
	const struct tp_collect_context *context = self->context;
	int failure;
	(void)target;
	double cost_ns = tp_breakpoint_cost_ns(N_CALIBRATION, &failure);
	if (failure)
		return tp_fail(err, TP_ABSENT, "%s", tp_breakpoint_failure_text(failure));
	tp_watch_list_init(&self->list, context->tree, &tp_breakpoint_kernel, cost_ns,
			   context->config->max_overhead_ratio * budget_share);
	tp_counter_watch_init(&self->counters, &self->list, context->sink);
	tp_entry_watch_init(&self->entries, &self->list, context->sink, find_address, self);
	tp_sink_watch(context->sink, on_record, self);
	self->is_started = true;
	if (context->pythons)
		tp_python_processes_listen(context->pythons, on_counters, self);
	tp_info("a breakpoint's hit costs %.1f us: at most %.0f a second", cost_ns / 1000,
		tp_watch_list_rate_max_hz(&self->list));
	return TP_OK;
}

static int watch_wait_fd(const struct tp_collector *base)
{
	const struct watch_collector *self = (const struct watch_collector *)base;
	return self->is_started ? self->list.epoll_fd : -1;
}

static enum tp_status watch_sample(struct tp_collector *base, uint64_t now_ns, struct tp_error *err)
{
	struct watch_collector *self = (struct watch_collector *)base;
	(void)err;
	if (!self->is_started)
		return TP_OK;
	tp_watch_list_drain(&self->list);
	if (self->is_paused)
		return TP_OK;
	list_native(self, now_ns);
	tp_entry_watch_update(&self->entries, now_ns);
	return TP_OK;
}

static void close_all(struct watch_collector *self)
{
	for (size_t i = 0; i < TP_WATCHES_MAX; i++)
		if (self->list.watches[i].is_used)
			tp_watch_list_close(&self->list, &self->list.watches[i]);
}

static void watch_pause(struct tp_collector *base, bool is_paused, uint64_t now_ns)
{
	struct watch_collector *self = (struct watch_collector *)base;
	(void)now_ns;
	self->is_paused = is_paused;
	if (is_paused && self->is_started)
		close_all(self);
}

static enum tp_status watch_stop(struct tp_collector *base, uint64_t now_ns, struct tp_error *err)
{
	struct watch_collector *self = (struct watch_collector *)base;
	(void)now_ns;
	(void)err;
	if (!self->is_started)
		return TP_OK;
	if (self->context->pythons)
		tp_python_processes_listen(self->context->pythons, NULL, NULL);
	tp_sink_end_watch(self->context->sink, self);
	tp_watch_list_drain(&self->list);
	close_all(self);
	const struct tp_watch_list *list = &self->list;
	if (list->n_opened == 0 && list->failure)
		tp_availability_degrade(&self->base.availability, "%s",
					tp_breakpoint_failure_text(list->failure));
	tp_info("%llu breakpoints set, %llu hits, %llu lost, %llu taken down as too fast",
		(unsigned long long)list->n_opened, (unsigned long long)list->n_hits,
		(unsigned long long)list->n_lost, (unsigned long long)list->n_too_fast);
	tp_sink_source(self->context->sink, base->type->name, base->type->summary,
		       &base->availability, list->n_hits, list->n_lost);
	return TP_OK;
}

static void watch_close(struct tp_collector *base)
{
	struct watch_collector *self = (struct watch_collector *)base;
	if (self->is_started) {
		tp_counter_watch_release(&self->counters);
		tp_entry_watch_release(&self->entries);
		tp_map_release(&self->native_tids);
		tp_watch_list_release(&self->list);
	}
	free(self);
}

const struct tp_collector_type tp_watch_collector = {
	.name = "breakpoints",
	.summary = "exact times of steps, without step marks (hardware breakpoints)",
	.gains = "exact times of steps",
	.probe = watch_probe,
	.open = watch_open,
	.start = watch_start,
	.wait_fd = watch_wait_fd,
	.sample = watch_sample,
	.pause = watch_pause,
	.stop = watch_stop,
	.stage = TP_STAGE_RINGS,
	.close = watch_close,
	.period_ns = 100 * TP_NS_PER_MS,
};
