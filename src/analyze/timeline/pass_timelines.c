/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the timelines of all threads, process by process, and sums what each thread did.
 *
 * Needs: nothing. Sets: classes, timelines, threads.
 */
#include "analyze/analysis.h"

#include "analyze/classify/frame_class.h"
#include "analyze/classify/stack_class.h"
#include "thread_timeline.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <stdlib.h>

static void sum_thread(struct tp_analysis *analysis, uint32_t id)
{
	struct tp_thread_info *info = &analysis->threads[id];
	const struct tp_timeline *timeline = &analysis->timelines[id];
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		if (segment->state != TP_STATE_ON_CPU)
			continue;
		uint64_t length = segment->end_ns - segment->start_ns;
		info->on_cpu_ns += length;
		if (segment->sample == TP_NO_SAMPLE)
			continue;
		const struct tp_stack_class *class =
			&analysis->classes[analysis->trace->samples[segment->sample].stack];
		info->phase_ns[class->phase] += length;
		/* Reading a checkpoint or compressing a log is not data loading. */
		if (!tp_phase_owns_time(class->phase) || class->phase == TP_PHASE_DATALOADER)
			info->leaf_ns[class->leaf] += length;
	}
}

/* Leaders are created before their threads, but their record may be lost. */
static void find_thread_groups(struct tp_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	struct tp_map leaders = {0};
	for (size_t i = 0; i < trace->n_tasks; i++) {
		const struct tp_task *task = &trace->tasks[i];
		if (task->tid == task->pid)
			tp_map_set(&leaders, (uint64_t)task->pid, i);
		uint64_t leader = i;
		(void)tp_map_get(&leaders, (uint64_t)task->pid, &leader);
		analysis->threads[i].leader = (uint32_t)leader;
	}
	tp_map_release(&leaders);
	for (size_t i = 0; i < trace->n_tasks; i++)
		analysis->threads[i].next = TP_NO_TASK;
	for (size_t i = trace->n_tasks; i-- > 0;) {
		struct tp_thread_info *leader = &analysis->threads[analysis->threads[i].leader];
		if (leader == &analysis->threads[i])
			continue;
		analysis->threads[i].next = leader->next;
		leader->next = (uint32_t)i;
	}
}

/* Returns true if most of its classified samples are data loading. Roles are more precise, but they
 * need timelines. */
static bool is_likely_loader(const struct tp_analysis *analysis, uint32_t task)
{
	const struct tp_trace *trace = analysis->trace;
	size_t n_loading = 0;
	size_t n_other = 0;
	for (size_t i = trace->sample_index[task]; i < trace->sample_index[task + 1]; i++) {
		const struct tp_stack_class *class = &analysis->classes[trace->samples[i].stack];
		bool is_loading = class->is_loader_root || class->phase == TP_PHASE_DATALOADER;
		n_loading += is_loading;
		n_other += !is_loading && (class->phase || class->is_team_root);
	}
	return n_loading > n_other;
}

static void collect_group_runs(struct tp_group_runs *out, const struct tp_analysis *analysis,
			       uint32_t leader)
{
	const struct tp_trace *trace = analysis->trace;
	if (analysis->threads[leader].next == TP_NO_TASK)
		return; /* it has only one thread */
	for (uint32_t id = leader; id != TP_NO_TASK; id = analysis->threads[id].next) {
		struct tp_intervals *list =
			is_likely_loader(analysis, id) ? &out->loaders : &out->others;
		for (size_t i = trace->run_index[id]; i < trace->run_index[id + 1]; i++)
			tp_intervals_add(list, trace->runs[i].start_ns, trace->runs[i].end_ns);
	}
	tp_intervals_merge(&out->loaders);
	tp_intervals_merge(&out->others);
}

static void add_timeline(struct tp_analysis *analysis, uint32_t id,
			 const struct tp_group_runs *group_runs)
{
	tp_thread_timeline_build(&analysis->timelines[id], analysis, id, group_runs);
	sum_thread(analysis, id);
}

enum tp_status tp_pass_timelines(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	const struct tp_trace *trace = analysis->trace;
	struct tp_arena *arena = analysis->arena;
	analysis->classes =
		tp_stack_class_build(trace, analysis->patterns, arena, &analysis->frame_flags);
	analysis->timelines = tp_arena_array(arena, trace->n_tasks, sizeof(struct tp_timeline));
	analysis->threads = tp_arena_array(arena, trace->n_tasks, sizeof(struct tp_thread_info));
	analysis->has_runs = trace->n_runs > 0;
	find_thread_groups(analysis);
	for (uint32_t leader = 0; leader < trace->n_tasks; leader++) {
		if (analysis->threads[leader].leader != leader)
			continue;
		struct tp_group_runs group_runs = {0};
		collect_group_runs(&group_runs, analysis, leader);
		for (uint32_t id = leader; id != TP_NO_TASK; id = analysis->threads[id].next)
			add_timeline(analysis, id, &group_runs);
		free(group_runs.loaders.items);
		free(group_runs.others.items);
	}
	return TP_OK;
}
