/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assigns roles to processes (trainer, loader worker, launcher) and finds the thread of the trainer
 * that runs the loop.
 *
 * Evidence in order of strength: the program's own marks; frames and names that only one role has;
 * then behaviour (computing, reading files, waiting for children).
 */
#include "analyze/analysis.h"

#include "analyze/classify/frame_class.h"
#include "analyze/thresholds.h"
#include "function_time.h"
#include "task_pool.h"
#include "thread_role.h"

#include <string.h>

/* Measurements of a process, over all its threads. */
struct role_process {
	uint32_t task;   /* the leader */
	uint32_t parent; /* leader of the parent process, or TP_NO_TASK */
	bool has_marks;
	bool was_forked; /* and never called exec: runs its parent's program */
	bool is_known_launcher;
	const char *exe;
	struct tp_function_time doings;
	uint64_t on_cpu_ns;
	uint64_t compute_ns;
	uint64_t loader_ns;
	uint64_t model_ns; /* by names: forward, backward, gradient exchange */
	uint64_t n_samples;
	uint64_t n_loader_roots; /* number of samples */
	uint64_t n_python;       /* samples of its first thread with Python frames */
	uint64_t n_worker;       /* of those, samples below the main loop of a loader worker */
	uint64_t leader_lived_ns;
	uint64_t leader_waited_ns; /* for children */
	uint64_t drinks_ns;        /* waits until a pipe or socket has data */
	uint64_t pours_ns;         /* waits until a pipe or socket has room */
};

/* Adds a wait for a pipe or socket to the direction in which its data flow. */
static void measure_wait(const struct tp_analysis *analysis, const struct tp_segment *segment,
			 struct role_process *process)
{
	if (segment->state != TP_STATE_BLOCKED || segment->sample == TP_NO_SAMPLE ||
	    (segment->cause != TP_CAUSE_PIPE && segment->cause != TP_CAUSE_SOCKET))
		return;
	uint64_t length = segment->end_ns - segment->start_ns;
	uint32_t stack = analysis->trace->samples[segment->sample].stack;
	if (analysis->classes[stack].leaf == TP_LEAF_READ)
		process->drinks_ns += length;
	else if (analysis->classes[stack].leaf == TP_LEAF_WRITE)
		process->pours_ns += length;
}

/* Detects the wait by the call, or by the Python function, because joining a process polls its
 * descriptor. */
static bool waits_for_child(const struct tp_analysis *analysis, const struct tp_segment *segment)
{
	if (segment->state != TP_STATE_BLOCKED)
		return false;
	if (segment->cause == TP_CAUSE_CHILD || segment->sample == TP_NO_SAMPLE)
		return segment->cause == TP_CAUSE_CHILD;
	uint32_t stack = analysis->trace->samples[segment->sample].stack;
	return analysis->classes[stack].doing == TP_FUNCTION_WAIT_CHILD;
}

static void measure_thread(const struct tp_analysis *analysis, uint32_t task,
			   struct role_process *process)
{
	const struct tp_trace *trace = analysis->trace;
	const struct tp_thread_info *info = &analysis->threads[task];
	tp_function_time_add(&process->doings, analysis, task);
	process->on_cpu_ns += info->on_cpu_ns;
	process->compute_ns += tp_thread_role_compute_ns(info);
	process->loader_ns += tp_thread_role_loader_ns(info);
	process->model_ns +=
		info->phase_ns[TP_PHASE_COMPUTE] + info->phase_ns[TP_PHASE_COMMUNICATION];
	for (size_t i = trace->sample_index[task]; i < trace->sample_index[task + 1]; i++) {
		const struct tp_stack_class *class = &analysis->classes[trace->samples[i].stack];
		bool is_python = class->has_python && task == process->task;
		process->n_samples += trace->samples[i].stack != 0;
		process->n_loader_roots += class->is_loader_root;
		process->n_python += is_python;
		process->n_worker += is_python && class->is_loader_root;
	}
	if (task != process->task)
		return;
	const struct tp_timeline *timeline = &analysis->timelines[task];
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		uint64_t length = segment->end_ns - segment->start_ns;
		process->leader_lived_ns += length;
		if (waits_for_child(analysis, segment))
			process->leader_waited_ns += length;
		measure_wait(analysis, segment, process);
	}
}

static struct role_process measure_process(const struct tp_analysis *analysis, uint32_t leader)
{
	const struct tp_trace *trace = analysis->trace;
	const struct tp_task *task = &trace->tasks[leader];
	struct role_process process = {.task = leader, .parent = TP_NO_TASK};
	if (task->parent != TP_NO_TASK)
		process.parent = analysis->threads[task->parent].leader;
	process.was_forked = process.parent != TP_NO_TASK && !task->exec_ns;
	process.exe = tp_trace_string(trace, task->exe);
	process.is_known_launcher = tp_patterns_is_launcher(analysis->patterns, process.exe);
	for (uint32_t i = leader; i != TP_NO_TASK; i = analysis->threads[i].next)
		measure_thread(analysis, i, &process);
	for (size_t i = 0; i < trace->n_marks; i++) {
		const struct tp_mark *mark = &trace->marks[i];
		if (mark->kind == TP_MARK_STEP && mark->task != TP_NO_TASK &&
		    analysis->threads[mark->task].leader == leader)
			process.has_marks = true;
	}
	return process;
}

static const struct role_process *find_process(const struct role_process *all, size_t n,
					       uint32_t task)
{
	while (n > 0) { /* sorted by task */
		const struct role_process *middle = &all[n / 2];
		if (middle->task == task)
			return middle;
		if (middle->task < task) {
			all = middle + 1;
			n -= n / 2 + 1;
		} else {
			n /= 2;
		}
	}
	return NULL;
}

static bool is_descendant(const struct role_process *all, size_t n, const struct role_process *p,
			  const struct role_process *top)
{
	for (size_t depth = 0; p && depth < n; depth++) {
		p = find_process(all, n, p->parent);
		if (p == top)
			return true;
	}
	return false;
}

/* Returns true if the process waits for data in a pipe or socket, and hardly ever for room in
 * one. */
static bool waits_to_read(const struct role_process *p)
{
	return p->drinks_ns > p->pours_ns &&
	       (double)p->drinks_ns > TP_FEED_WAITS_MIN * (double)p->leader_lived_ns;
}

static bool waits_to_write(const struct role_process *p)
{
	return p->pours_ns > p->drinks_ns &&
	       (double)p->pours_ns > TP_FEED_WAITS_MIN * (double)p->leader_lived_ns;
}

/* Returns true if p is another program that makes data for q: `p | q`, or started by q with a pipe
 * between them. One of the two ends waits for the other, and the direction of the wait shows which
 * one makes the data. Names and parents are compared last, because thousands of short processes are
 * compared with each other. */
static bool feeds(const struct role_process *all, size_t n, const struct role_process *p,
		  const struct role_process *q)
{
	if (p == q || q->was_forked || waits_to_write(q) ||
	    !(waits_to_write(p) || waits_to_read(q)) ||
	    (double)q->doings.total_ns <= TP_FEED_WORKS_MIN * (double)p->doings.total_ns ||
	    strcmp(p->exe, q->exe) == 0)
		return false;
	return p->parent == q->parent || is_descendant(all, n, p, q);
}

/* A process may be short-lived, as one of many that open a file each, but it works while it
 * lives. */
static bool can_feed(const struct role_process *p)
{
	return !p->was_forked && !waits_to_read(p) &&
	       (double)p->doings.total_ns > TP_FEED_WORKS_MIN * (double)p->leader_lived_ns;
}

/* Programs like cat and tee also read much: the output of the trainer. */
static bool is_filter(const struct role_process *p)
{
	return !p->was_forked && waits_to_read(p) &&
	       (double)p->doings.total_ns < TP_FEED_WORKS_MIN * (double)p->on_cpu_ns;
}

static bool waits_most_times(const struct role_process *p)
{
	return (double)p->leader_waited_ns > TP_PROCESS_MAJORITY * (double)p->leader_lived_ns;
}

/* Returns true if the process works itself and does not only wait for its children. */
static bool works(const struct role_process *p)
{
	bool is_idle = (double)p->on_cpu_ns <= TP_PROCESS_IDLE_MAX * (double)p->leader_lived_ns;
	return p->has_marks || (!is_idle && !waits_most_times(p));
}

/* Returns the working process that forked this one, or that started the same program again to work
 * for it; an idle fork server may be between them. NULL if there is none. */
static const struct role_process *find_worker_owner(const struct role_process *all, size_t n,
						    const struct role_process *p)
{
	const struct role_process *up = find_process(all, n, p->parent);
	for (size_t depth = 0; up && up->was_forked && !works(up) && depth < n; depth++)
		up = find_process(all, n, up->parent);
	if (!up || up->is_known_launcher || !works(up))
		return NULL;
	bool is_again = strcmp(p->exe, up->exe) == 0 && p->doings.total_ns && up->doings.total_ns;
	return p->was_forked || is_again ? up : NULL;
}

/* Returns true if the process only waits for the processes that it forked. */
static bool is_manager(const struct role_process *all, size_t n, const struct role_process *p)
{
	for (size_t i = 0; i < n; i++)
		if (all[i].parent == p->task && all[i].was_forked)
			return !works(p);
	return false;
}

/* Ranks can be started by a rank, too. Model names decide only if functions cannot be compared,
 * because workers use the model's library to transform and collate. */
static bool is_same_work(const struct role_process *p, const struct role_process *up)
{
	if (p->doings.total_ns && up->doings.total_ns)
		return tp_function_time_overlap(&p->doings, &up->doings) > TP_RANK_TWINS_MIN;
	return (double)p->model_ns > TP_RANK_COMPUTES_MIN * (double)p->on_cpu_ns;
}

static bool is_loader(const struct role_process *all, size_t n, const struct role_process *p)
{
	/* Direct evidence: its first thread is in the main loop of a worker. */
	if (p->n_worker * 2 > p->n_python)
		return true;
	if (p->has_marks || !find_process(all, n, p->parent) || is_filter(p))
		return false;
	for (size_t i = 0; i < n && can_feed(p); i++)
		if (feeds(all, n, p, &all[i]))
			return true;
	if (p->n_samples && (double)p->n_loader_roots > TP_PROCESS_MAJORITY * (double)p->n_samples)
		return true;
	if (p->on_cpu_ns && (double)p->loader_ns > TP_PROCESS_MAJORITY * (double)p->on_cpu_ns)
		return true;
	const struct role_process *up = find_worker_owner(all, n, p);
	return up && !is_manager(all, n, p) && !is_same_work(p, up);
}

static void assign_roles(struct tp_analysis *analysis, const struct role_process *all, size_t n)
{
	uint64_t most = 0;
	bool any_marks = false;
	for (size_t i = 0; i < n; i++) {
		any_marks |= all[i].has_marks;
		if (!is_loader(all, n, &all[i]) && !waits_most_times(&all[i]) &&
		    all[i].compute_ns > most)
			most = all[i].compute_ns;
	}
	for (size_t i = 0; i < n; i++) {
		const struct role_process *p = &all[i];
		enum tp_role role = TP_ROLE_OTHER;
		bool loads = is_loader(all, n, p);
		bool computes = !any_marks && most && !loads && !waits_most_times(p) &&
				(double)p->compute_ns >= TP_RANK_COMPUTES_MIN * (double)most;
		if (p->has_marks || computes)
			role = TP_ROLE_TRAINER;
		else if (loads)
			role = TP_ROLE_LOADER;
		else if (p->is_known_launcher)
			role = TP_ROLE_LAUNCHER;
		analysis->roles[p->task] = role;
	}
}

/* An ancestor of a trainer that is no trainer itself is its launcher. */
static void mark_launchers(struct tp_analysis *analysis, const struct role_process *all, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (analysis->roles[all[i].task] != TP_ROLE_TRAINER)
			continue;
		const struct role_process *up = find_process(all, n, all[i].parent);
		for (size_t depth = 0; up && depth < n; depth++) {
			if (analysis->roles[up->task] == TP_ROLE_OTHER)
				analysis->roles[up->task] = TP_ROLE_LAUNCHER;
			up = find_process(all, n, up->parent);
		}
	}
}

/* Returns true if names show that the process trains a model. */
static bool is_named_model(const struct role_process *p)
{
	return (double)p->model_ns > TP_TRAINER_MODEL_MIN * (double)p->on_cpu_ns;
}

/* A script may run several programs one after the other: the one that converts the data may compute
 * longer than the one that trains. Among processes of the same program the first is kept. */
static bool is_better_trainer(const struct role_process *p, const struct role_process *than)
{
	if (!than || strcmp(p->exe, than->exe) == 0)
		return !than;
	if (is_named_model(p) != is_named_model(than))
		return is_named_model(p);
	return p->compute_ns > than->compute_ns;
}

static bool is_alive_with(const struct tp_trace *trace, uint32_t a, uint32_t b)
{
	const struct tp_task *x = &trace->tasks[a];
	const struct tp_task *y = &trace->tasks[b];
	return (!x->end_ns || y->start_ns < x->end_ns) && (!y->end_ns || x->start_ns < y->end_ns);
}

/* Other programs that ran before or after the trainer are not ranks. */
static void clear_other_trainers(struct tp_analysis *analysis, const struct role_process *all,
				 size_t n, const struct role_process *trainer)
{
	for (size_t i = 0; i < n; i++)
		if (analysis->roles[all[i].task] == TP_ROLE_TRAINER &&
		    strcmp(all[i].exe, trainer->exe) != 0 &&
		    !is_alive_with(analysis->trace, all[i].task, trainer->task))
			analysis->roles[all[i].task] = TP_ROLE_OTHER;
}

/* With several ranks the first one represents the job. */
static void choose_trainer(struct tp_analysis *analysis, const struct role_process *all, size_t n)
{
	const struct role_process *best = NULL;
	for (size_t i = 0; i < n; i++)
		if (analysis->roles[all[i].task] == TP_ROLE_TRAINER &&
		    is_better_trainer(&all[i], best))
			best = &all[i];
	if (best) {
		analysis->profile->trainer = best->task;
		clear_other_trainers(analysis, all, n, best);
		return;
	}
	/* No process computes: use the busiest process. */
	const struct role_process *busiest = NULL;
	for (size_t i = 0; i < n; i++)
		if (!busiest || all[i].on_cpu_ns > busiest->on_cpu_ns)
			busiest = &all[i];
	if (busiest) {
		analysis->roles[busiest->task] = TP_ROLE_TRAINER;
		analysis->profile->trainer = busiest->task;
	}
}

static uint32_t marked_thread(const struct tp_analysis *analysis, uint32_t trainer)
{
	const struct tp_trace *trace = analysis->trace;
	for (size_t i = 0; i < trace->n_marks; i++) {
		const struct tp_mark *mark = &trace->marks[i];
		if (mark->kind == TP_MARK_STEP && mark->task != TP_NO_TASK &&
		    analysis->threads[mark->task].leader == trainer)
			return mark->task;
	}
	return TP_NO_TASK;
}

/* Returns the thread with most compute time other than the first one; the first one if it is alone.
 * The work of the first thread before it joins the others prepares theirs. */
static uint32_t longest_running_thread(const struct tp_analysis *analysis, uint32_t trainer)
{
	uint32_t busiest = trainer;
	uint64_t most_ns = 0;
	for (uint32_t i = 0; i < analysis->trace->n_tasks; i++) {
		if (analysis->threads[i].leader != trainer || i == trainer)
			continue;
		uint64_t compute_ns = tp_thread_role_compute_ns(&analysis->threads[i]);
		if (compute_ns <= most_ns)
			continue;
		busiest = i;
		most_ns = compute_ns;
	}
	return busiest;
}

/* Returns the recorded part of the thread's life. */
static uint64_t length_ns(const struct tp_timeline *timeline)
{
	size_t n = timeline->n;
	return n ? timeline->segments[n - 1].end_ns - timeline->segments[0].start_ns : 0;
}

static uint64_t longest_wait_ns(const struct tp_timeline *timeline)
{
	uint64_t longest = 0;
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		uint64_t length = segment->end_ns - segment->start_ns;
		if (segment->state == TP_STATE_BLOCKED && length > longest)
			longest = length;
	}
	return longest;
}

/* Chooses the thread with the step marks, else the first thread, unless that only waits for another
 * thread: in one wait, as a join does, or often, if the other thread works most of the time. */
static void choose_main_thread(struct tp_analysis *analysis)
{
	uint32_t trainer = analysis->profile->trainer;
	analysis->main_task = trainer;
	if (trainer == TP_NO_TASK)
		return;
	uint32_t marked = marked_thread(analysis, trainer);
	if (marked != TP_NO_TASK) {
		analysis->main_task = marked;
		return;
	}
	const struct tp_timeline *timeline = &analysis->timelines[trainer];
	double lived = (double)length_ns(timeline);
	bool joins = (double)longest_wait_ns(timeline) > TP_PROCESS_MAJORITY * lived;
	if (!joins && ((double)analysis->threads[trainer].on_cpu_ns > TP_PROCESS_IDLE_MAX * lived ||
		       timeline->n > 1000))
		return;
	uint32_t busiest = longest_running_thread(analysis, trainer);
	if (busiest == trainer)
		return;
	double least = joins ? TP_PROCESS_IDLE_MAX : TP_PROCESS_MAJORITY;
	if ((double)analysis->threads[busiest].on_cpu_ns > least * lived)
		analysis->main_task = busiest;
}

/* Returns true if `root` is the process itself or one of its ancestors. */
static bool is_started_by(const struct tp_analysis *analysis, uint32_t leader, uint32_t root)
{
	const struct tp_trace *trace = analysis->trace;
	for (size_t depth = 0; leader != root; depth++) {
		uint32_t parent = trace->tasks[leader].parent;
		if (parent == TP_NO_TASK || depth > trace->n_tasks)
			return false;
		leader = analysis->threads[parent].leader;
	}
	return true;
}

/* If the ranks of a job were recorded together, the other ranks are peers, whatever they do. */
static void mark_peers(struct tp_analysis *analysis, const struct tp_rank_scope *rank)
{
	for (size_t i = 0; i < rank->n_all; i++)
		if (rank->all[i] != rank->root && rank->all[i] < analysis->trace->n_tasks)
			analysis->roles[rank->all[i]] = TP_ROLE_TRAINER;
}

enum tp_status tp_pass_roles(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	const struct tp_trace *trace = analysis->trace;
	const struct tp_rank_scope *rank = analysis->options ? analysis->options->rank : NULL;
	analysis->roles = tp_arena_array(analysis->arena, trace->n_tasks, sizeof(enum tp_role));
	analysis->main_task = TP_NO_TASK;
	struct role_process *all = tp_arena_array(analysis->arena, trace->n_tasks, sizeof(*all));
	size_t n = 0;
	for (uint32_t i = 0; i < trace->n_tasks; i++)
		if (analysis->threads[i].leader == i &&
		    (!rank || is_started_by(analysis, i, rank->root)))
			all[n++] = measure_process(analysis, i);
	assign_roles(analysis, all, n);
	tp_task_pool_assign(analysis);
	choose_trainer(analysis, all, n);
	analysis->profile->n_task_workers =
		tp_task_pool_count(analysis, analysis->profile->trainer);
	mark_launchers(analysis, all, n);
	choose_main_thread(analysis);
	if (rank)
		mark_peers(analysis, rank);
	for (size_t i = 0; i < n; i++)
		tp_function_time_release(&all[i].doings);
	if (analysis->main_task != TP_NO_TASK)
		tp_thread_role_assign(analysis);
	return TP_OK;
}
