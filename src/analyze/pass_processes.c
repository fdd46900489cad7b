/*
 * Rows for the tables of processes and threads, and the hottest stacks.
 *
 * Needs: timelines, roles, labels, window. Gives: profile->processes, ->threads, ->hot.
 */
#include "analysis.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_HOT = 2000 };

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

/* What a thread did in the window. */
static void sum_times(struct tp_thread_result *row, const struct tp_analysis *analysis)
{
	const struct tp_profile *profile = analysis->profile;
	const struct tp_timeline *timeline = &analysis->timelines[row->task];
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *piece = &timeline->segments[i];
		uint64_t length =
			tp_segment_ns_in(piece, profile->window_start_ns, profile->window_end_ns);
		row->lived_ns += length;
		if (piece->state == TP_STATE_ON_CPU)
			row->on_cpu_ns += length;
		else if (piece->state == TP_STATE_RUNNABLE)
			row->runnable_ns += length;
		else
			row->blocked_ns[piece->cause] += length;
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

struct hot_table {
	const struct tp_trace *trace;
	struct tp_hot_stack *rows;
	size_t n;
	size_t capacity;
	struct tp_map index;
};

/* Stacks through the same functions are one row: which instruction was met is chance. */
static uint64_t path_of(const struct tp_trace *trace, uint32_t id)
{
	const struct tp_stack *stack = tp_trace_stack(trace, id);
	uint64_t path = stack->n_frames;
	for (uint32_t i = 0; i < stack->n_frames; i++) {
		const struct tp_frame *frame = &trace->frames[stack->frames[i]];
		uint64_t place = frame->kind == TP_FRAME_PYTHON ? stack->frames[i]
				 : frame->function_start        ? frame->function_start
				 : frame->symbol                ? frame->symbol
								: frame->address;
		path = tp_hash_mix(path, tp_hash_mix(frame->module, place));
	}
	return path;
}

static uint64_t hot_key(const struct tp_trace *trace, const struct tp_hot_stack *hot)
{
	uint64_t who = (uint64_t)hot->task << 32 | (uint64_t)hot->state << 8 | (uint64_t)hot->part;
	return tp_hash_mix(path_of(trace, hot->stack), who);
}

static void add_hot(struct hot_table *table, const struct tp_hot_stack *hot)
{
	uint64_t at;
	uint64_t key = hot_key(table->trace, hot);
	if (!tp_map_get(&table->index, key, &at)) {
		tp_map_set(&table->index, key, table->n);
		TP_ARRAY_PUSH(table->rows, table->n, table->capacity) = *hot;
		return;
	}
	assert(at < table->n);
	table->rows[at].time_ns += hot->time_ns;
}

static int hot_order(const void *a, const void *b)
{
	const struct tp_hot_stack *x = a;
	const struct tp_hot_stack *y = b;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? 1 : -1;
	return (x->stack > y->stack) - (x->stack < y->stack);
}

static void add_hot_thread(struct hot_table *table, const struct tp_analysis *analysis,
			   uint32_t task)
{
	const struct tp_profile *profile = analysis->profile;
	const struct tp_timeline *timeline = &analysis->timelines[task];
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *piece = &timeline->segments[i];
		if (piece->sample == NO_SAMPLE || piece->state == TP_STATE_RUNNABLE ||
		    piece->start_ns < profile->window_start_ns ||
		    piece->end_ns > profile->window_end_ns)
			continue;
		struct tp_hot_stack hot = {
			.stack = analysis->trace->samples[piece->sample].stack,
			.task = analysis->threads[task].leader,
			.state = piece->state,
			.part = task == analysis->main_task ? tp_label_part(piece->label)
							    : TP_N_PARTS,
			.time_ns = piece->end_ns - piece->start_ns,
		};
		if (hot.stack)
			add_hot(table, &hot);
	}
}

enum tp_status tp_pass_processes(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	struct tp_profile *profile = analysis->profile;
	list_processes(analysis);
	list_threads(analysis);
	struct hot_table table = {.trace = analysis->trace};
	for (uint32_t task = 0; task < analysis->trace->n_tasks; task++)
		add_hot_thread(&table, analysis, task);
	if (table.n)
		qsort(table.rows, table.n, sizeof(*table.rows), hot_order);
	profile->n_hot = table.n < MAX_HOT ? table.n : MAX_HOT;
	profile->hot =
		tp_arena_copy(analysis->arena, table.rows, profile->n_hot * sizeof(*table.rows));
	tp_map_release(&table.index);
	free(table.rows);
	return TP_OK;
}
