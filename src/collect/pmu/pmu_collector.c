/* SPDX-License-Identifier: Apache-2.0 */
/* Collector "pmu": hardware counters of the target and all its children: cycles, instructions,
 * last-level cache, and the slots that the back end and memory left empty. */
#include "collect/machine/fd_limit.h"
#include "collect/machine/stage_clock.h"
#include "collect/perf/perf_event.h"
#include "collect/process/task_tree.h"
#include "collect/registry.h"
#include "pmu_event_alias.h"
#include "pmu_group.h"
#include "pmu_probe.h"
#include "pmu_topdown.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"
#include "trainprof/collect/collector.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 512, MAX_KINDS = TP_CORE_PMUS_MAX, FDS_LEFT_MIN = 64 };

/* The same events on each kind of core, for one task and its later children. */
struct meter {
	struct tp_pmu_group groups[MAX_KINDS];
	struct tp_pmu_counts_sum sum;
	bool has[TP_PMU_GROUP_MAX];
};

/* Meters of all tasks for one set of events. */
struct meters {
	struct tp_pmu_event events[MAX_KINDS][TP_PMU_GROUP_MAX];
	size_t n_events;
	size_t n_required;
	size_t n_kinds;
	struct meter *items;
	size_t n_items;
	size_t items_capacity;
};

struct pmu {
	struct tp_collector base;
	const struct tp_host *host;
	struct tp_sink *sink;
	struct tp_task_tree *tree; /* of a target that already runs; otherwise NULL */
	struct meters basic;
	struct meters topdown;
	struct tp_pmu_topdown recipe;
	bool has_recipe;
	double topdown_taken[TP_PMU_GROUP_MAX]; /* counts that are already included in `slots` */
	struct tp_pmu_topdown_slots slots;      /* total so far */
	bool without_kernel;
	uint64_t n_gauges;
};

static enum tp_status pmu_open(struct tp_collector **out, const struct tp_collect_context *context,
			       struct tp_error *err)
{
	struct tp_core_pmu pmus[MAX_KINDS];
	struct tp_availability *availability;
	size_t n = tp_core_pmu_find(pmus, MAX_KINDS, context->host);
	if (n == 0)
		return tp_fail(err, TP_ABSENT, "this machine exposes no hardware counters");
	struct pmu *self = tp_alloc(sizeof(*self));
	availability = &self->base.availability;
	self->base.type = &tp_pmu_collector;
	self->host = context->host;
	self->sink = context->sink;
	self->tree = context->config && context->config->is_attaching ? context->tree : NULL;
	self->basic.n_kinds = n;
	self->basic.n_required = 2;
	self->basic.n_events = TP_N_BASIC;
	for (size_t i = 0; i < n; i++) {
		size_t n_events =
			tp_pmu_topdown_basic(self->basic.events[i], context->host, &pmus[i]);
		if (n_events < self->basic.n_events)
			self->basic.n_events = n_events;
	}
	tp_pmu_probe(context->host, availability);
	self->has_recipe =
		n == 1 && tp_pmu_topdown_find(&self->recipe, context->host, &pmus[0],
					      availability->reason, sizeof(availability->reason));
	if (self->has_recipe) {
		memcpy(self->topdown.events[0], self->recipe.events, sizeof(self->recipe.events));
		self->topdown.n_events = self->recipe.n;
		self->topdown.n_required = self->recipe.n;
		self->topdown.n_kinds = 1;
	}
	*out = &self->base;
	return TP_OK;
}

static void meter_close(struct meter *meter, size_t n_kinds)
{
	for (size_t i = 0; i < n_kinds; i++)
		tp_pmu_group_close(&meter->groups[i]);
}

/* Starts to count on one task. Returns 0 or the errno. */
static int meters_add(struct pmu *self, struct meters *meters, pid_t tid, bool on_exec)
{
	struct meter meter = {.has = {false}};
	struct tp_pmu_group_options options = {.pid = tid,
					       .inherit = true,
					       .on_exec = on_exec,
					       .without_kernel = self->without_kernel,
					       .n_required = meters->n_required};
	for (size_t i = 0; i < meters->n_kinds; i++) {
		int error = tp_pmu_group_open(&meter.groups[i], meters->events[i], meters->n_events,
					      &options);
		if (error) {
			meter_close(&meter, i);
			return error;
		}
	}
	self->without_kernel = options.without_kernel;
	for (size_t i = 0; i < meters->n_events; i++) {
		meter.has[i] = true;
		for (size_t kind = 0; kind < meters->n_kinds; kind++)
			meter.has[i] &= tp_pmu_group_has(&meter.groups[kind], i);
	}
	TP_ARRAY_PUSH(meters->items, meters->n_items, meters->items_capacity) = meter;
	return 0;
}

/* A child that is held before its exec still runs our own program. */
static bool is_held(pid_t pid)
{
	char path[64];
	char ours[PATH_SIZE];
	char its[PATH_SIZE];
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	ssize_t n_ours = readlink("/proc/self/exe", ours, sizeof(ours));
	ssize_t n_its = readlink(path, its, sizeof(its));
	return pid != getpid() && n_ours > 0 && n_ours == n_its &&
	       memcmp(ours, its, (size_t)n_ours) == 0;
}

/* A running process already has threads; their later children are followed by inheritance. */
static int meters_add_threads(struct pmu *self, struct meters *meters, pid_t pid)
{
	char path[64];
	int error = ESRCH;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *dir = opendir(path);
	if (!dir)
		return errno;
	const struct dirent *item;
	while ((item = readdir(dir))) { /* NOLINT(concurrency-mt-unsafe): a DIR of our own */
		pid_t tid = (pid_t)strtol(item->d_name, NULL, 10);
		if (tid <= 0)
			continue;
		int one = meters_add(self, meters, tid, false);
		error = one == 0 || error == ESRCH ? one : error;
	}
	closedir(dir);
	return error;
}

/* Adds all existing threads once: a thread that is born meanwhile is counted with its creator, or
 * not counted for some microseconds. */
static int meters_add_tree(struct pmu *self, struct meters *meters)
{
	int error = ESRCH;
	size_t cursor = 0;
	const struct tp_task_tree_task *task;
	while ((task = tp_task_tree_next(self->tree, &cursor))) {
		if (tp_fd_limit_left(TP_PERF_FDS_RESERVED) < FDS_LEFT_MIN)
			return EMFILE;
		int one = meters_add(self, meters, task->info.tid, false);
		if (one && one != ESRCH)
			return one;
		error = one == 0 ? 0 : error;
	}
	return error;
}

static int meters_start(struct pmu *self, struct meters *meters, pid_t target)
{
	if (self->tree)
		return meters_add_tree(self, meters);
	return is_held(target) ? meters_add(self, meters, target, true)
			       : meters_add_threads(self, meters, target);
}

/* The counts of all tasks together. `running_ratio` is the smallest of their ratios. */
struct total {
	double values[TP_PMU_GROUP_MAX];
	bool has[TP_PMU_GROUP_MAX];
	double running_ratio;
	bool has_begun; /* some task has been on a CPU */
};

static struct total meters_read(struct meters *meters)
{
	struct total total = {.running_ratio = meters->n_items ? 1 : 0};
	for (size_t i = 0; i < meters->n_events; i++)
		total.has[i] = meters->n_items > 0;
	for (size_t m = 0; m < meters->n_items; m++) {
		struct meter *meter = &meters->items[m];
		struct tp_pmu_counts now[MAX_KINDS] = {{.enabled_ns = 0}};
		bool good = true;
		for (size_t kind = 0; kind < meters->n_kinds; kind++)
			good = good && tp_pmu_group_read(&meter->groups[kind], &now[kind]);
		if (good)
			tp_pmu_counts_add(&meter->sum, now, meters->n_kinds, meters->n_events);
		/* A thread that has not run yet does not make the others less reliable. */
		if (now[0].enabled_ns > 0) {
			double ratio = tp_pmu_counts_running_ratio(now, meters->n_kinds);
			total.has_begun = true;
			total.running_ratio = fmin(total.running_ratio, ratio);
		}
		for (size_t i = 0; i < meters->n_events; i++) {
			total.values[i] += meter->sum.values[i];
			total.has[i] &= meter->has[i];
		}
	}
	return total;
}

static void emit_gauge(struct pmu *self, enum tp_metric metric, uint64_t now_ns, double value)
{
	tp_sink_gauge(self->sink, metric, TP_NO_TASK, now_ns, value);
	self->n_gauges++;
}

static void emit_basic(struct pmu *self, const struct total *total, uint64_t now_ns)
{
	static const enum tp_metric metrics[TP_N_BASIC] = {
		[TP_BASIC_CYCLES] = TP_METRIC_PMU_CYCLES,
		[TP_BASIC_INSTRUCTIONS] = TP_METRIC_PMU_INSTRUCTIONS,
		[TP_BASIC_LLC_REFS] = TP_METRIC_PMU_LLC_REFS,
		[TP_BASIC_LLC_MISSES] = TP_METRIC_PMU_LLC_MISSES,
	};
	for (size_t i = 0; i < TP_N_BASIC; i++) {
		if (total->has[i])
			emit_gauge(self, metrics[i], now_ns, total->values[i]);
	}
}

/* Computed for the counts since the last time, and added up, because a share times a total could
 * also shrink. Contradictory counts are kept until there are more. */
static void emit_topdown(struct pmu *self, const struct total *total, uint64_t now_ns)
{
	struct tp_pmu_topdown_slots now;
	double grown[TP_PMU_GROUP_MAX];
	for (size_t i = 0; i < TP_PMU_GROUP_MAX; i++)
		grown[i] = total->values[i] - self->topdown_taken[i];
	if (tp_pmu_topdown_compute(&now, &self->recipe, grown)) {
		memcpy(self->topdown_taken, total->values, sizeof(self->topdown_taken));
		self->slots.slots += now.slots;
		self->slots.backend += now.backend;
		self->slots.memory += now.memory; /* NAN stays NAN */
	}
	emit_gauge(self, TP_METRIC_PMU_SLOTS, now_ns, self->slots.slots);
	emit_gauge(self, TP_METRIC_PMU_BACKEND, now_ns, self->slots.backend);
	if (!isnan(self->slots.memory))
		emit_gauge(self, TP_METRIC_PMU_MEMORY, now_ns, self->slots.memory);
}

/* Emits the start values of the counters, because growth needs two readings. */
static void emit_start(struct pmu *self, uint64_t now_ns)
{
	struct total zero = meters_read(&self->basic);
	memset(zero.values, 0, sizeof(zero.values));
	emit_basic(self, &zero, now_ns);
	if (!self->has_recipe)
		return;
	bool tells_memory = self->recipe.memory_count >= 0 || self->recipe.memory_numerator >= 0;
	self->slots.memory = tells_memory ? 0 : (double)NAN;
	emit_topdown(self, &zero, now_ns);
}

/* A group that ran too little is not meaningful, and no value is better than a wildly wrong one. */
static void emit_all(struct pmu *self, uint64_t now_ns)
{
	struct total basic = meters_read(&self->basic);
	double least = basic.running_ratio;
	if (!basic.has_begun)
		return;
	if (basic.running_ratio >= TP_PMU_COUNTS_RUNNING_MIN)
		emit_basic(self, &basic, now_ns);
	if (self->has_recipe) {
		struct total topdown = meters_read(&self->topdown);
		least = fmin(least, topdown.running_ratio);
		if (topdown.running_ratio >= TP_PMU_COUNTS_RUNNING_MIN)
			emit_topdown(self, &topdown, now_ns);
	}
	emit_gauge(self, TP_METRIC_PMU_RUNNING, now_ns, least);
}

static enum tp_status pmu_start(struct tp_collector *base, pid_t target, struct tp_error *err)
{
	struct pmu *self = (struct pmu *)base;
	int error = meters_start(self, &self->basic, target);
	if (error)
		return tp_fail_errno(err, error, "cannot count on process %d", (int)target);
	error = self->has_recipe ? meters_start(self, &self->topdown, target) : 0;
	if (error) {
		self->has_recipe = false;
		base->availability.presence = TP_PRESENCE_DEGRADED;
		snprintf(base->availability.reason, sizeof(base->availability.reason),
			 "no top-down counters: %s", tp_errno_text(error));
	}
	emit_start(self, tp_clock_now_ns());
	return TP_OK;
}

static enum tp_status pmu_sample(struct tp_collector *base, uint64_t now_ns, struct tp_error *err)
{
	(void)err;
	emit_all((struct pmu *)base, now_ns);
	return TP_OK;
}

static void pmu_pause(struct tp_collector *base, bool is_paused, uint64_t now_ns)
{
	struct pmu *self = (struct pmu *)base;
	(void)is_paused;
	if (self->basic.n_items)
		emit_all(self, now_ns);
}

static enum tp_status pmu_stop(struct tp_collector *base, uint64_t now_ns, struct tp_error *err)
{
	struct pmu *self = (struct pmu *)base;
	(void)err;
	emit_all(self, now_ns);
	tp_sink_source(self->sink, base->type->name, base->type->summary, &base->availability,
		       self->n_gauges, 0);
	return TP_OK;
}

static void meters_release(struct meters *meters)
{
	for (size_t i = 0; i < meters->n_items; i++)
		meter_close(&meters->items[i], meters->n_kinds);
	free(meters->items);
}

static void pmu_close(struct tp_collector *base)
{
	struct pmu *self = (struct pmu *)base;
	meters_release(&self->basic);
	meters_release(&self->topdown);
	free(self);
}

const struct tp_collector_type tp_pmu_collector = {
	.name = "pmu",
	.summary = "CPU hardware counters",
	.gains = "whether computation waits for memory",
	.probe = tp_pmu_probe,
	.open = pmu_open,
	.start = pmu_start,
	.sample = pmu_sample,
	.pause = pmu_pause,
	.stop = pmu_stop,
	.stage = TP_STAGE_RINGS,
	.close = pmu_close,
	.period_ns = TP_NS_PER_S,
};
