/* SPDX-License-Identifier: Apache-2.0 */
/* Probes, chooses, opens, starts and finishes the sources. */
#include "trainprof/collect/plan.h"
#include "trainprof/collect/collector.h"
#include "trainprof/collect/host_info.h"

#include "collect/callstack/python_processes.h"
#include "collect/gpu/common/gpu_in_use.h"
#include "collect/machine/availability.h"
#include "collect/machine/sched_priority.h"
#include "collect/machine/stage_clock.h"
#include "collect/process/procfs_stat.h"
#include "collect/process/task_tree.h"
#include "collect/process/thread_exit.h"
#include "plan_source.h"
#include "registry.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define TP_LOG_DOMAIN "collect"
#include "trainprof/base/log.h"

#define LEAVING_NS (2 * TP_NS_PER_S)
/* The number of a thread that ended earlier may belong to something else. */
#define RECENT_NS (10 * TP_NS_PER_S)

enum { MAX_SOURCES = 64 };

struct plan_slot {
	struct tp_plan_row row;
	enum tp_presence probed; /* result before any changes */
	struct tp_collector *collector;
	char required_as[24]; /* the name in the user's option */
};

struct tp_plan {
	const struct tp_host *host;
	struct tp_collect_config config;
	struct tp_collect_config actual;
	struct tp_collect_context context;
	double gpu_free_bytes;
	struct tp_gpu_in_use gpus;
	uint64_t helpers_cpu_ns;
	struct tp_stage_clock stages;
	struct plan_slot *slots;
	size_t n_slots;
	pid_t target;
	bool is_finished;
};

/* Names by purpose instead of by source. */
static const struct {
	const char *alias;
	const char *name;
} aliases[] = {
	{"stacks", "perf"},
	{"counters", "pmu"},
};

static const char *resolve_alias(const char *name)
{
	for (size_t i = 0; i < TP_ARRAY_LEN(aliases); i++)
		if (strcmp(name, aliases[i].alias) == 0)
			return aliases[i].name;
	return name;
}

static struct plan_slot *slot_find(const struct tp_plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->n_slots; i++)
		if (strcmp(plan->slots[i].row.type->name, resolve_alias(name)) == 0)
			return &plan->slots[i];
	return NULL;
}

static enum tp_status fail_unknown(const struct tp_plan *plan, const char *option, const char *name,
				   struct tp_error *err)
{
	const char *names[MAX_SOURCES + TP_ARRAY_LEN(aliases)];
	size_t n = 0;
	for (size_t i = 0; i < plan->n_slots && i < MAX_SOURCES; i++)
		names[n++] = plan->slots[i].row.type->name;
	for (size_t i = 0; i < TP_ARRAY_LEN(aliases); i++)
		names[n++] = aliases[i].alias;
	const char *nearest = tp_text_closest(name, names, n);
	(void)tp_fail(err, TP_USAGE, "--%s: no source '%s'%s%s", option, name,
		      nearest ? "; nearest: " : "", nearest ? nearest : "");
	tp_error_next(err, "trainprof doctor");
	return TP_USAGE;
}

/* Calls `each` for every name of a list; a leading sign is passed separately. */
static enum tp_status walk_list(struct tp_plan *plan, const char *list, const char *option,
				void (*each)(struct plan_slot *slot, char sign, const char *name),
				struct tp_error *err)
{
	enum tp_status status = TP_OK;
	char *copy = tp_strdup(list);
	char *rest = NULL;
	for (char *name = strtok_r(copy, ", ", &rest); name && !status;
	     name = strtok_r(NULL, ", ", &rest)) {
		char sign = '\0';
		if (*name == '+' || *name == '-')
			sign = *name++;
		struct plan_slot *slot = slot_find(plan, name);
		if (slot)
			each(slot, sign, name);
		else
			status = fail_unknown(plan, option, name, err);
	}
	free(copy);
	return status;
}

static bool is_usable(const struct plan_slot *slot)
{
	return slot->row.availability.presence == TP_PRESENCE_PRESENT ||
	       slot->row.availability.presence == TP_PRESENCE_DEGRADED;
}

static void choose(struct plan_slot *slot, char sign, const char *name)
{
	(void)name;
	slot->row.is_chosen = sign != '-' && is_usable(slot);
}

static void require(struct plan_slot *slot, char sign, const char *name)
{
	slot->row.is_required = sign != '-';
	snprintf(slot->required_as, sizeof(slot->required_as), "%s", name);
}

static void set_off(struct plan_slot *slot, const char *why)
{
	slot->row.availability = (struct tp_availability){.presence = TP_PRESENCE_OFF};
	snprintf(slot->row.availability.reason, sizeof(slot->row.availability.reason), "%s", why);
}

static void mark_disabled(struct plan_slot *slot)
{
	if (slot->row.is_chosen || !is_usable(slot))
		return;
	set_off(slot, "left out by --collect");
}

static enum tp_status check_required(const struct plan_slot *slot, struct tp_error *err)
{
	if (!slot->row.is_required || slot->row.is_chosen)
		return TP_OK;
	size_t len = strlen(slot->required_as);
	bool is_plural = len && slot->required_as[len - 1] == 's';
	(void)tp_fail(err, TP_DENIED, "%s %s required but %s", slot->required_as,
		      is_plural ? "were" : "was", slot->row.availability.reason);
	if (slot->row.availability.remedy[0])
		tp_error_next(err, "%s", slot->row.availability.remedy);
	return TP_DENIED;
}

/* Needs its own option, because it injects code into the program. */
static void disable_cupti(struct tp_plan *plan)
{
	struct plan_slot *slot = slot_find(plan, tp_cupti_collector.name);
	if (!slot || plan->config.gpu_trace != TP_GPU_TRACE_OFF || !is_usable(slot))
		return;
	set_off(slot, "not asked for: --gpu-trace=windows");
}

/* Needs its own option, because it locks clocks. */
static void disable_counters(struct tp_plan *plan)
{
	struct plan_slot *slot = slot_find(plan, tp_gpu_counters_collector.name);
	if (slot && !plan->config.wants_counters &&
	    (is_usable(slot) || slot->probed == TP_PRESENCE_NO_PERMISSION))
		set_off(slot, "not asked for: --counters");
}

/* NVML reports which GPUs the program uses. */
static void disable_unused_counters(struct tp_plan *plan)
{
	struct plan_slot *counters = slot_find(plan, tp_gpu_counters_collector.name);
	const struct plan_slot *nvml = slot_find(plan, tp_nvml_collector.name);
	if (!counters || !counters->row.is_chosen || (nvml && nvml->row.is_chosen))
		return;
	counters->row.is_chosen = false;
	set_off(counters, "needs the source nvml");
}

static enum tp_status plan_select(struct tp_plan *plan, const struct tp_selection *selection,
				  struct tp_error *err)
{
	const char *collect = selection ? selection->collect : NULL;
	bool from_all = !collect || *collect == '+' || *collect == '-';
	enum tp_status status = TP_OK;
	for (size_t i = 0; i < plan->n_slots; i++)
		plan->slots[i].row.is_chosen = from_all && is_usable(&plan->slots[i]);
	if (collect)
		status = walk_list(plan, collect, "collect", choose, err);
	if (!status && selection && selection->require)
		status = walk_list(plan, selection->require, "require", require, err);
	disable_unused_counters(plan);
	for (size_t i = 0; i < plan->n_slots; i++)
		mark_disabled(&plan->slots[i]);
	for (size_t i = 0; i < plan->n_slots && !status; i++)
		status = check_required(&plan->slots[i], err);
	return status;
}

/* No other source samples. */
static void report_sampler(struct tp_plan *plan)
{
	const struct plan_slot *perf = slot_find(plan, "perf");
	if (!perf || !perf->row.is_chosen)
		plan->actual.sample_rate_hz = 0;
}

enum tp_status tp_plan_make(struct tp_plan **out, const struct tp_host *host,
			    const struct tp_collect_config *config,
			    const struct tp_selection *selection, struct tp_error *err)
{
	const struct tp_collector_type *const *types = tp_collector_types();
	struct tp_plan *plan = tp_alloc(sizeof(*plan));
	plan->host = host;
	plan->config = plan->actual = *config;
	while (types[plan->n_slots])
		plan->n_slots++;
	plan->slots = tp_alloc((plan->n_slots + 1) * sizeof(*plan->slots));
	for (size_t i = 0; i < plan->n_slots; i++) {
		struct plan_slot *slot = &plan->slots[i];
		slot->row.type = types[i];
		types[i]->probe(host, &slot->row.availability);
		slot->probed = slot->row.availability.presence;
	}
	disable_cupti(plan);
	disable_counters(plan);
	enum tp_status status = plan_select(plan, selection, err);
	report_sampler(plan);
	if (status)
		tp_plan_free(plan);
	else
		*out = plan;
	return status;
}

static void slot_close(struct plan_slot *slot)
{
	if (slot->collector)
		slot->row.type->close(slot->collector);
	slot->collector = NULL;
}

void tp_plan_free(struct tp_plan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; i < plan->n_slots; i++)
		slot_close(&plan->slots[i]);
	if (plan->context.pythons)
		tp_python_processes_free(plan->context.pythons);
	tp_task_tree_free(plan->context.tree);
	free(plan->slots);
	free(plan);
}

size_t tp_plan_count(const struct tp_plan *plan)
{
	return plan->n_slots;
}

const struct tp_plan_row *tp_plan_row(const struct tp_plan *plan, size_t i)
{
	return &plan->slots[i].row;
}

const struct tp_collect_config *tp_plan_config(const struct tp_plan *plan)
{
	return &plan->actual;
}

enum tp_tier tp_plan_tier(const struct tp_plan *plan)
{
	const struct plan_slot *perf = slot_find(plan, "perf");
	const struct plan_slot *proc = slot_find(plan, "proc");
	if (perf && perf->row.is_chosen)
		return perf->probed == TP_PRESENCE_PRESENT ? TP_TIER_FULL : TP_TIER_REDUCED;
	if (proc && proc->row.is_chosen && proc->probed == TP_PRESENCE_PRESENT)
		return TP_TIER_MINIMAL;
	return TP_TIER_BARE;
}

/* Raises the limit to the permitted maximum: each CPU and each polled thread needs a descriptor or
 * more. */
static void raise_file_limit(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* A source that does not start is reported as absent, or ends the run if it was required. */
static enum tp_status slot_fail(struct tp_plan *plan, struct plan_slot *slot,
				const struct tp_error *why, struct tp_error *err)
{
	slot_close(slot);
	slot->row.is_chosen = false;
	tp_availability_fail(&slot->row.availability, why);
	tp_info("%s does not run: %s", slot->row.type->name, why->text);
	report_sampler(plan);
	return check_required(slot, err);
}

static enum tp_status slot_open(struct tp_plan *plan, struct plan_slot *slot, struct tp_error *err)
{
	struct tp_error why = {0};
	if (slot->row.type->open(&slot->collector, &plan->context, &why)) {
		slot->collector = NULL;
		return slot_fail(plan, slot, &why, err);
	}
	struct tp_collector *collector = slot->collector;
	collector->type = slot->row.type;
	if (collector->availability.presence == TP_PRESENCE_PRESENT &&
	    !collector->availability.reason[0])
		collector->availability = slot->row.availability;
	return TP_OK;
}

enum tp_status tp_plan_open(struct tp_plan *plan, struct tp_sink *sink, struct tp_error *err)
{
	enum tp_status status = TP_OK;
	struct tp_sched_priority priority;
	raise_file_limit();
	tp_sched_priority_raise(&priority); /* the user is waiting, and calibration must be exact */
	plan->context = (struct tp_collect_context){
		.host = plan->host,
		.config = &plan->config,
		.actual = &plan->actual,
		.sink = sink,
		.tree = tp_task_tree_new(plan->host, sink),
		.gpu_free_bytes = &plan->gpu_free_bytes,
		.gpus = &plan->gpus,
		.helpers_cpu_ns = &plan->helpers_cpu_ns,
		.stages = &plan->stages,
	};
	tp_task_tree_set_stages(plan->context.tree, &plan->stages);
	tp_task_tree_set_keeps_arguments(plan->context.tree, plan->config.keeps_arguments);
	plan->gpu_free_bytes = NAN;
	const struct plan_slot *python = slot_find(plan, tp_python_collector.name);
	if (python && python->row.is_chosen)
		plan->context.pythons = tp_python_processes_new(plan->host, plan->context.tree);
	const struct plan_slot *perf = slot_find(plan, tp_perf_collector.name);
	plan->context.may_sample = perf && perf->row.is_chosen;
	for (size_t i = 0; i < plan->n_slots && !status; i++)
		if (plan->slots[i].row.is_chosen)
			status = slot_open(plan, &plan->slots[i], err);
	const struct plan_slot *pmu = slot_find(plan, tp_pmu_collector.name);
	plan->context.has_counters = pmu && pmu->collector;
	tp_sched_priority_restore(&priority);
	return status;
}

void tp_plan_child_env(struct tp_plan *plan, struct tp_env *env)
{
	for (size_t i = 0; i < plan->n_slots; i++) {
		struct plan_slot *slot = &plan->slots[i];
		struct tp_error why = {0};
		if (slot->collector && slot->row.type->child_env &&
		    slot->row.type->child_env(slot->collector, env, &why))
			tp_info("%s: %s", slot->row.type->name, why.text);
	}
}

/* Emits what is known about a source so far; the source itself emits more when it stops. */
static void slot_emit(const struct tp_plan *plan, const struct plan_slot *slot)
{
	tp_sink_source(plan->context.sink, slot->row.type->name, slot->row.type->summary,
		       &slot->row.availability, 0, 0);
}

enum tp_status tp_plan_start(struct tp_plan *plan, pid_t target, struct tp_error *err)
{
	enum tp_status status = TP_OK;
	plan->target = target;
	if (plan->config.is_attaching)
		tp_task_tree_scan_existing(plan->context.tree, target, tp_clock_now_ns());
	else
		tp_task_tree_fork(plan->context.tree, target, target, 0, tp_clock_now_ns());
	for (size_t i = 0; i < plan->n_slots && !status; i++) {
		struct plan_slot *slot = &plan->slots[i];
		struct tp_error why = {0};
		if (slot->collector && slot->row.type->start &&
		    slot->row.type->start(slot->collector, target, &why))
			status = slot_fail(plan, slot, &why, err);
		else if (slot->collector)
			slot->row.availability = slot->collector->availability;
		slot_emit(plan, slot);
	}
	return status;
}

struct tp_collector *tp_plan_source(const struct tp_plan *plan, size_t i)
{
	return plan->slots[i].collector;
}

struct tp_stage_clock *tp_plan_stages(struct tp_plan *plan)
{
	return &plan->stages;
}

struct tp_sink *tp_plan_sink(const struct tp_plan *plan)
{
	return plan->context.sink;
}

void tp_plan_drop(struct tp_plan *plan, size_t i, uint64_t now_ns, const struct tp_error *why)
{
	struct plan_slot *slot = &plan->slots[i];
	tp_info("%s stopped: %s", slot->row.type->name, why->text);
	tp_availability_degrade(&slot->collector->availability, "stopped early: %s", why->text);
	slot->row.availability = slot->collector->availability;
	struct tp_error ignored = {0};
	if (slot->row.type->stop && slot->row.type->stop(slot->collector, now_ns, &ignored))
		slot_emit(plan, slot);
	slot_close(slot);
	/* Open-ended: the source's data is missing from now on. */
	tp_sink_gap(plan->context.sink, slot->row.type->name, why->text, now_ns, UINT64_MAX, 0);
}

void tp_plan_pause(struct tp_plan *plan, bool is_paused, uint64_t now_ns)
{
	for (size_t i = 0; i < plan->n_slots; i++) {
		struct plan_slot *slot = &plan->slots[i];
		if (slot->collector && slot->row.type->pause)
			slot->row.type->pause(slot->collector, is_paused, now_ns);
	}
}

/* The target may be a zombie by now, or continue after --duration: reads its current accounting. */
static void emit_last_accounts(struct tp_plan *plan, uint64_t now_ns)
{
	struct tp_task_tree *tree = plan->context.tree;
	struct tp_procfs_stat stat;
	if (tp_procfs_stat_read(&stat, plan->host, plan->target, 0) && stat.state == 'Z')
		tp_task_tree_exit(tree, plan->target, now_ns);
	size_t cursor = 0;
	const struct tp_task_tree_task *task;
	while ((task = tp_task_tree_next(tree, &cursor)))
		tp_sink_task(plan->context.sink, &task->info);
}

void tp_plan_wait_for_threads(const struct tp_plan *plan)
{
	pid_t *tids = NULL;
	size_t n = 0;
	size_t capacity = 0;
	size_t cursor = 0;
	pid_t tid;
	const struct tp_task_tree_task *task;
	uint64_t since_ns = tp_clock_now_ns() - RECENT_NS;
	while (tp_task_tree_next_ended(plan->context.tree, plan->target, since_ns, &cursor, &tid))
		TP_ARRAY_PUSH(tids, n, capacity) = tid;
	cursor = 0;
	while ((task = tp_task_tree_next(plan->context.tree, &cursor)))
		if (task->info.pid == plan->target && task->info.tid != plan->target)
			TP_ARRAY_PUSH(tids, n, capacity) = task->info.tid;
	tp_thread_exit_wait(tids, n, LEAVING_NS);
	free(tids);
}

void tp_plan_finish(struct tp_plan *plan, uint64_t now_ns)
{
	if (plan->is_finished)
		return;
	plan->is_finished = true;
	for (size_t i = 0; i < plan->n_slots; i++) {
		struct plan_slot *slot = &plan->slots[i];
		struct tp_error why = {0};
		if (slot->collector && slot->row.type->stop &&
		    slot->row.type->stop(slot->collector, now_ns, &why))
			tp_info("%s: %s", slot->row.type->name, why.text);
		if (slot->collector)
			slot->row.availability = slot->collector->availability;
	}
	if (plan->target)
		emit_last_accounts(plan, now_ns);
	for (size_t i = 0; i < plan->n_slots; i++)
		slot_close(&plan->slots[i]);
}
