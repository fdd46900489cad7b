/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows for the tables of processes and threads, and the hottest stacks.
 *
 * Needs: timelines, roles, labels, window. Gives: profile->processes, ->threads, ->hot.
 */
#include "analyze/analysis.h"
#include "analyze/timeline/hot_stacks.h"

static double last_gauge(const struct tp_trace *trace, enum tp_metric metric, uint32_t task)
{
	size_t n;
	const struct tp_gauge *readings = tp_trace_gauges(trace, metric, task, &n);
	return n ? readings[n - 1].value : 0;
}

static double largest_gauge(const struct tp_trace *trace, enum tp_metric metric, uint32_t task)
{
	size_t n;
	double largest = 0;
	const struct tp_gauge *readings = tp_trace_gauges(trace, metric, task, &n);
	for (size_t i = 0; i < n; i++)
		if (readings[i].value > largest)
			largest = readings[i].value;
	return largest;
}

/* Sums the states of a thread in the window. */
static void sum_times(struct tp_thread_result *row, const struct tp_analysis *analysis)
{
	const struct tp_profile *profile = analysis->profile;
	const struct tp_timeline *timeline = &analysis->timelines[row->task];
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		uint64_t length =
			tp_segment_ns_in(segment, profile->window_start_ns, profile->window_end_ns);
		row->lived_ns += length;
		if (segment->state == TP_STATE_ON_CPU)
			row->on_cpu_ns += length;
		else if (segment->state == TP_STATE_RUNNABLE)
			row->runnable_ns += length;
		else
			row->blocked_ns[segment->cause] += length;
	}
}

static void list_threads(struct tp_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	struct tp_profile *profile = analysis->profile;
	profile->threads =
		tp_arena_array(analysis->arena, trace->n_tasks, sizeof(*profile->threads));
	for (uint32_t task = 0; task < trace->n_tasks; task++) {
		const struct tp_thread_info *info = &analysis->threads[task];
		struct tp_thread_result *row = &profile->threads[profile->n_threads];
		*row = (struct tp_thread_result){.task = task,
						 .role = info->role,
						 .process_role = analysis->roles[info->leader]};
		sum_times(row, analysis);
		profile->n_threads += row->lived_ns > 0;
	}
}

static void add_times(struct tp_process_result *process, const struct tp_thread_result *thread)
{
	process->lived_ns += thread->lived_ns;
	process->on_cpu_ns += thread->on_cpu_ns;
	process->runnable_ns += thread->runnable_ns;
	for (int cause = 0; cause < TP_N_CAUSES; cause++)
		process->blocked_ns[cause] += thread->blocked_ns[cause];
}

static uint64_t process_cpu_ns(const struct tp_analysis *analysis, uint32_t leader)
{
	const struct tp_trace *trace = analysis->trace;
	const struct tp_task *task = &trace->tasks[leader];
	double read = last_gauge(trace, TP_METRIC_PROC_UTIME, leader) +
		      last_gauge(trace, TP_METRIC_PROC_STIME, leader);
	uint64_t known = task->utime_ns + task->stime_ns;
	if (read > (double)known)
		known = (uint64_t)read;
	if (known)
		return known;
	for (uint32_t i = leader; i != TP_NO_TASK; i = analysis->threads[i].next)
		known += analysis->threads[i].on_cpu_ns;
	return known;
}

static void list_processes(struct tp_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	struct tp_profile *profile = analysis->profile;
	profile->processes =
		tp_arena_array(analysis->arena, trace->n_tasks, sizeof(*profile->processes));
	for (uint32_t leader = 0; leader < trace->n_tasks; leader++) {
		if (analysis->threads[leader].leader != leader)
			continue;
		struct tp_process_result *row = &profile->processes[profile->n_processes++];
		row->task = leader;
		row->role = analysis->roles[leader];
		row->cpu_ns = process_cpu_ns(analysis, leader);
		row->rss_peak_bytes = (uint64_t)largest_gauge(trace, TP_METRIC_PROC_RSS, leader);
		for (uint32_t i = leader; i != TP_NO_TASK; i = analysis->threads[i].next) {
			struct tp_thread_result thread = {.task = i};
			sum_times(&thread, analysis);
			row->n_threads++;
			add_times(row, &thread);
		}
	}
}

static void add_hot_thread(struct tp_hot_table *table, const struct tp_analysis *analysis,
			   uint32_t task)
{
	const struct tp_profile *profile = analysis->profile;
	bool is_main = task == analysis->main_task;
	const struct tp_timeline *timeline =
		is_main ? tp_analysis_main_timeline(analysis) : &analysis->timelines[task];
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		if (segment->sample == TP_NO_SAMPLE || segment->state == TP_STATE_RUNNABLE ||
		    segment->start_ns < profile->window_start_ns ||
		    segment->end_ns > profile->window_end_ns)
			continue;
		struct tp_hot_stack hot = {
			.stack = analysis->trace->samples[segment->sample].stack,
			.task = analysis->threads[task].leader,
			.state = segment->state,
			.part = is_main && !segment->is_of_device ? tp_label_part(segment->label)
								  : TP_N_PARTS,
			.time_ns = segment->end_ns - segment->start_ns,
		};
		tp_hot_table_add(table, &hot);
	}
}

enum tp_status tp_pass_processes(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	struct tp_profile *profile = analysis->profile;
	list_processes(analysis);
	list_threads(analysis);
	struct tp_hot_table table = {.trace = analysis->trace};
	for (uint32_t task = 0; task < analysis->trace->n_tasks; task++)
		add_hot_thread(&table, analysis, task);
	tp_hot_table_finish(&table, profile);
	return TP_OK;
}
