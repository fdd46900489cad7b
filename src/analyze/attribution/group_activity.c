/* SPDX-License-Identifier: Apache-2.0 */
/* Merges the timelines of a group of threads into one sequence of activities. */
#include "group_activity.h"

#include "analyze/numeric/intervals.h"
#include "analyze/roles/task_pool.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"

#include <stdlib.h>
#include <string.h>

static bool is_interpreting(const struct tp_stack_class *class)
{
	return class->leaf == TP_LEAF_INTERPRETER ||
	       (class->leaf == TP_LEAF_NONE && class->owner == TP_LEAF_INTERPRETER);
}

static enum tp_activity_kind on_cpu_activity(enum tp_thread_role role,
					     const struct tp_stack_class *class)
{
	if (class->is_helper_root)
		return TP_ACTIVITY_TRANSFER;
	if (role == TP_THREAD_TEAM && is_interpreting(class))
		return TP_ACTIVITY_SCRIPT;
	switch (class->leaf) {
	case TP_LEAF_SPIN:
		return TP_ACTIVITY_NONE;
	case TP_LEAF_LOCK:
		return TP_ACTIVITY_TRANSFER;
	case TP_LEAF_READ:
	case TP_LEAF_OPEN:
		return TP_ACTIVITY_READ;
	case TP_LEAF_PICKLE:
	case TP_LEAF_NET:
	case TP_LEAF_WRITE:
		return role == TP_THREAD_LOADER ? TP_ACTIVITY_TRANSFER : TP_ACTIVITY_WORK;
	default:
		return TP_ACTIVITY_WORK;
	}
}

static enum tp_activity_kind blocked_activity(enum tp_cause cause)
{
	switch (cause) {
	case TP_CAUSE_FILE:
	case TP_CAUSE_DISK:
	case TP_CAUSE_PAGE_FAULT:
		return TP_ACTIVITY_READ;
	case TP_CAUSE_SLEEP:
		return TP_ACTIVITY_SLEEP;
	case TP_CAUSE_GIL:
		return TP_ACTIVITY_TRANSFER;
	default:
		return TP_ACTIVITY_NONE;
	}
}

/* The threads of an XLA pool exchange data themselves: the main thread then waits for other ranks,
 * by way of the pool. */
static bool is_exchange(const struct tp_analysis *analysis, enum tp_thread_role role,
			const struct tp_segment *segment)
{
	if (role != TP_THREAD_TEAM || segment->sample == TP_NO_SAMPLE)
		return false;
	const struct tp_sample *sample = &analysis->trace->samples[segment->sample];
	const struct tp_stack_class *class = &analysis->classes[sample->stack];
	return segment->state == TP_STATE_BLOCKED && class->is_team_root &&
	       class->phase == TP_PHASE_COMMUNICATION;
}

enum tp_activity_kind tp_activity_of(const struct tp_analysis *analysis, enum tp_thread_role role,
				     const struct tp_segment *segment)
{
	if (segment->state == TP_STATE_RUNNABLE)
		return TP_ACTIVITY_QUEUE;
	if (segment->state == TP_STATE_BLOCKED) {
		enum tp_activity_kind kind = blocked_activity(segment->cause);
		bool is_wait = kind == TP_ACTIVITY_NONE && is_exchange(analysis, role, segment);
		return is_wait ? TP_ACTIVITY_EXCHANGE : kind;
	}
	if (segment->sample == TP_NO_SAMPLE)
		return TP_ACTIVITY_WORK;
	const struct tp_sample *sample = &analysis->trace->samples[segment->sample];
	return on_cpu_activity(role, &analysis->classes[sample->stack]);
}

/* The names on the stack decide only between team and loader. */
static bool may_be_of(const struct tp_analysis *analysis, enum tp_thread_role role, uint32_t task)
{
	enum tp_thread_role own = analysis->threads[task].role;
	return own == role || own == TP_THREAD_TEAM || own == TP_THREAD_LOADER ||
	       (own == TP_THREAD_COMM && role == TP_THREAD_TEAM);
}

bool tp_activity_is_of(const struct tp_analysis *analysis, enum tp_thread_role role, uint32_t task,
		       const struct tp_segment *segment)
{
	enum tp_thread_role own = analysis->threads[task].role;
	if (own == TP_THREAD_COMM && role == TP_THREAD_TEAM)
		return is_exchange(analysis, role, segment);
	if ((own != TP_THREAD_TEAM && own != TP_THREAD_LOADER) ||
	    segment->state != TP_STATE_ON_CPU || segment->sample == TP_NO_SAMPLE)
		return own == role;
	const struct tp_stack_class *class =
		&analysis->classes[analysis->trace->samples[segment->sample].stack];
	if (class->phase == TP_PHASE_DATALOADER)
		own = TP_THREAD_LOADER;
	else if (class->is_team_root && class->phase == TP_PHASE_COMPUTE)
		own = TP_THREAD_TEAM;
	return own == role;
}

static uint32_t parent_of(const struct tp_analysis *analysis, uint32_t leader)
{
	uint32_t parent = analysis->trace->tasks[leader].parent;
	return parent == TP_NO_TASK ? TP_NO_TASK : analysis->threads[parent].leader;
}

static bool is_trainer_ancestor(const struct tp_analysis *analysis, uint32_t leader)
{
	uint32_t at = analysis->profile->trainer;
	for (size_t depth = 0; depth < analysis->trace->n_tasks && at != TP_NO_TASK; depth++) {
		at = parent_of(analysis, at);
		if (at == leader)
			return at != TP_NO_TASK;
	}
	return false;
}

/* Returns true if the task is of the judged trainer or of a process that loads for it. A loader
 * process belongs to the first trainer above it; in a pipeline the common parent of trainer and
 * loader is found first. */
static bool works_for_trainer(const struct tp_analysis *analysis, uint32_t task)
{
	uint32_t leader = analysis->threads[task].leader;
	uint32_t trainer = analysis->profile->trainer;
	if (leader == trainer)
		return true;
	if (analysis->roles[leader] != TP_ROLE_LOADER)
		return false;
	for (size_t depth = 0; depth < analysis->trace->n_tasks; depth++) {
		leader = parent_of(analysis, leader);
		if (leader == TP_NO_TASK || analysis->roles[leader] == TP_ROLE_TRAINER)
			return leader == trainer;
		if (is_trainer_ancestor(analysis, leader))
			return true;
	}
	return false;
}

/* The union of the group's threads for each activity. */
struct kind_times {
	struct tp_intervals of[TP_N_ACTIVITIES];
	size_t at[TP_N_ACTIVITIES]; /* the first interval that has not ended */
};

static void add_thread(struct kind_times *times, const struct tp_analysis *analysis, uint32_t task,
		       enum tp_thread_role role)
{
	const struct tp_timeline *timeline = &analysis->timelines[task];
	if (!may_be_of(analysis, role, task))
		return;
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		if (!tp_activity_is_of(analysis, role, task, segment))
			continue;
		enum tp_activity_kind kind = tp_activity_of(analysis, role, segment);
		if (kind != TP_ACTIVITY_NONE)
			tp_intervals_add(&times->of[kind], segment->start_ns, segment->end_ns);
	}
}

/* Returns the activity at a time, and when it may change: at its own end, or where one of a higher
 * priority begins. Times must not decrease from call to call. */
static enum tp_activity_kind kind_at(struct kind_times *times, uint64_t time_ns, uint64_t *until_ns)
{
	for (int kind = 0; kind < TP_ACTIVITY_NONE; kind++) {
		const struct tp_intervals *list = &times->of[kind];
		size_t *at = &times->at[kind];
		while (*at < list->n && list->items[*at].end_ns <= time_ns)
			++*at;
		if (*at == list->n)
			continue;
		bool is_active = list->items[*at].start_ns <= time_ns;
		uint64_t border_ns =
			is_active ? list->items[*at].end_ns : list->items[*at].start_ns;
		if (border_ns < *until_ns)
			*until_ns = border_ns;
		if (is_active)
			return (enum tp_activity_kind)kind;
	}
	return TP_ACTIVITY_NONE;
}

static void sweep(struct tp_activities *out, struct kind_times *times, uint64_t end_ns,
		  struct tp_arena *arena)
{
	struct tp_activity *items = NULL;
	size_t capacity = 0;
	uint64_t until_ns;
	for (uint64_t at = 0; at < end_ns; at = until_ns) {
		until_ns = end_ns;
		enum tp_activity_kind kind = kind_at(times, at, &until_ns);
		if (items && items[out->n - 1].kind == kind)
			items[out->n - 1].end_ns = until_ns;
		else
			TP_ARRAY_PUSH(items, out->n, capacity) =
				(struct tp_activity){at, until_ns, kind};
	}
	out->items = tp_arena_copy(arena, items, out->n * sizeof(*items));
	free(items);
}

/* Compute team threads have to compute at least a little: runtimes have threads that only sleep,
 * and these would seem to delay the team. */
static uint64_t min_work_ns(const struct tp_analysis *analysis, enum tp_thread_role role,
			    bool is_member(const struct tp_analysis *analysis, uint32_t task))
{
	uint64_t busiest = 0;
	for (uint32_t task = 0; role == TP_THREAD_TEAM && task < analysis->trace->n_tasks; task++) {
		const struct tp_thread_info *info = &analysis->threads[task];
		if (info->role == role && info->on_cpu_ns > busiest && is_member(analysis, task))
			busiest = info->on_cpu_ns;
	}
	return busiest / 1000;
}

static bool is_in_pool(const struct tp_analysis *analysis, uint32_t task)
{
	return tp_task_pool_has_worker(analysis, analysis->profile->trainer,
				       analysis->threads[task].leader);
}

static void build(struct tp_activities *out, const struct tp_analysis *analysis,
		  enum tp_thread_role role,
		  bool is_member(const struct tp_analysis *analysis, uint32_t task))
{
	*out = (struct tp_activities){0};
	struct kind_times times = {0};
	uint64_t least_ns = min_work_ns(analysis, role, is_member);
	for (uint32_t task = 0; task < analysis->trace->n_tasks; task++) {
		if (!is_member(analysis, task))
			continue;
		out->n_threads += analysis->threads[task].role == role;
		if (analysis->threads[task].role == role &&
		    analysis->threads[task].on_cpu_ns < least_ns)
			continue;
		add_thread(&times, analysis, task, role);
	}
	bool is_any = out->n_threads > 0;
	for (int kind = 0; kind < TP_N_ACTIVITIES; kind++) {
		tp_intervals_merge(&times.of[kind]);
		is_any |= times.of[kind].n > 0;
	}
	if (is_any)
		sweep(out, &times, analysis->trace->end_ns, analysis->arena);
	for (int kind = 0; kind < TP_N_ACTIVITIES; kind++)
		free(times.of[kind].items);
}

void tp_activities_build(struct tp_activities *out, const struct tp_analysis *analysis,
			 enum tp_thread_role role)
{
	build(out, analysis, role, works_for_trainer);
}

void tp_activities_build_pool(struct tp_activities *out, const struct tp_analysis *analysis)
{
	build(out, analysis, TP_THREAD_TEAM, is_in_pool);
}

size_t tp_activities_find(const struct tp_activities *activities, uint64_t time_ns)
{
	size_t at;
	TP_FIND_FIRST(at, 0, activities->n, activities->items[at].end_ns > time_ns);
	return at;
}
