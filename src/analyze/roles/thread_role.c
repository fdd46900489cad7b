/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classifies threads by their names, by the names on their stacks, then by their behaviour.
 *
 * Loaders that start threads for every batch have hundreds that live for a few samples each; one of
 * them is sampled only in the decoder, another only in a copy. Threads that start in the same
 * function do the same work, so they are classified together.
 */
#include "thread_role.h"

#include "analyze/classify/frame_class.h"
#include "analyze/thresholds.h"
#include "data_waker.h"
#include "function_time.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"

#include <stdlib.h>

struct evidence {
	uint64_t n;    /* samples with a stack, of them: */
	uint64_t idle; /* waiting for work, or for room for the result */
	uint64_t loader;
	uint64_t busy_loader; /* of these, those that do not wait so */
	uint64_t team;
	uint64_t comm;
	uint64_t helper;
	uint64_t pool_helper; /* of these, those of a pool of tasks */
	uint64_t on_cpu_ns;   /* of this time: */
	uint64_t loader_ns;
	uint64_t compute_ns;
	uint64_t awake_ns; /* on a CPU or runnable: the threads may share a CPU */
	uint64_t beside; /* samples of the working main thread during which this thread was awake */
	uint64_t shared_ns; /* part of its work in functions in which the main thread works, too */
	uint64_t work_ns;
};

struct role_context {
	struct tp_analysis *analysis;
	struct tp_function_time main; /* the main thread's work */
	uint64_t *main_ns;            /* heap: times of its samples at work, ascending */
	size_t n_main;
	size_t main_capacity;
	struct tp_map kinds;       /* frame id -> classification of its leaf by the patterns */
	struct tp_map groups;      /* entry function -> index into sums */
	struct evidence *sums;     /* heap */
	struct evidence *evidence; /* heap, by task */
	uint64_t *entries;         /* heap, by task; 0 = not known */
	uint64_t on_cpu_ns;        /* sum over all classified threads */
	size_t n_sums;
	size_t sums_capacity;
};

uint64_t tp_thread_role_loader_ns(const struct tp_thread_info *info)
{
	uint64_t phase = info->phase_ns[TP_PHASE_DATALOADER];
	uint64_t leaf = info->leaf_ns[TP_LEAF_DECODE] + info->leaf_ns[TP_LEAF_PICKLE] +
			info->leaf_ns[TP_LEAF_READ] + info->leaf_ns[TP_LEAF_OPEN];
	return phase > leaf ? phase : leaf;
}

uint64_t tp_thread_role_compute_ns(const struct tp_thread_info *info)
{
	uint64_t other = info->phase_ns[TP_PHASE_CHECKPOINT] + info->phase_ns[TP_PHASE_LOGGING] +
			 info->phase_ns[TP_PHASE_COMMUNICATION] + tp_thread_role_loader_ns(info);
	return info->on_cpu_ns > other ? info->on_cpu_ns - other : 0;
}

/* ---- start functions of threads --------------------------------------------- */

static unsigned kind_of_frame(struct role_context *role_context, uint32_t id)
{
	uint64_t kind;
	if (tp_map_get(&role_context->kinds, id, &kind))
		return (unsigned)kind;
	const struct tp_trace *trace = role_context->analysis->trace;
	const struct tp_frame *frame = &trace->frames[id];
	kind = tp_patterns_frame(role_context->analysis->patterns,
				 tp_trace_string(trace, frame->module),
				 tp_trace_string(trace, frame->symbol))
		       .leaf;
	tp_map_set(&role_context->kinds, id, kind);
	return (unsigned)kind;
}

/* Returns the outermost function of a stack that is not in the C library; 0 in an interpreter,
 * whose threads all start in the same function. */
static uint64_t entry_of_stack(struct role_context *role_context, const struct tp_stack *stack)
{
	const struct tp_trace *trace = role_context->analysis->trace;
	if (stack->flags & TP_STACK_TRUNCATED)
		return 0;
	for (uint32_t i = stack->n_frames; i-- > 0;) {
		const struct tp_frame *frame = &trace->frames[stack->frames[i]];
		if (frame->kind != TP_FRAME_NATIVE)
			return 0;
		unsigned kind = kind_of_frame(role_context, stack->frames[i]);
		if (kind == TP_LEAF_INTERPRETER)
			return 0;
		if (kind == TP_LEAF_CALLER)
			continue;
		uint64_t place = frame->function_start ? frame->function_start : frame->symbol;
		return place ? tp_hash_mix(frame->module, place) : 0;
	}
	return 0;
}

static uint64_t entry_of_thread(struct role_context *role_context, uint32_t task)
{
	const struct tp_trace *trace = role_context->analysis->trace;
	for (size_t i = trace->sample_index[task]; i < trace->sample_index[task + 1]; i++) {
		uint64_t entry = entry_of_stack(role_context,
						tp_trace_stack(trace, trace->samples[i].stack));
		if (entry)
			return entry;
	}
	return 0;
}

/* ---- work concurrent with the main thread ----------------------------------- */

static bool is_main_at_work(const struct tp_analysis *analysis, const struct tp_sample *sample)
{
	return sample->state == TP_STATE_ON_CPU &&
	       tp_function_time_is_work(&analysis->classes[sample->stack]);
}

/* ---- evidence --------------------------------------------------------------- */

/* Returns the index of the first time that is not before `ns`, at or after `from`. Doubles its
 * stride, because the next one is usually near. */
static size_t skip_before(const struct role_context *role_context, size_t from, uint64_t ns)
{
	size_t low = from;
	size_t stride = 1;
	while (low + stride <= role_context->n_main &&
	       role_context->main_ns[low + stride - 1] < ns) {
		low += stride;
		stride *= 2;
	}
	size_t high = low + stride < role_context->n_main ? low + stride : role_context->n_main;
	size_t at;
	TP_FIND_FIRST(at, low, high, role_context->main_ns[at] >= ns);
	return at;
}

/* Counts the instants at which the main thread was seen at work while this thread was awake:
 * samples of the main thread against exact runs of the other thread, so nothing is blurred. */
static void count_overlaps(struct evidence *found, const struct role_context *role_context,
			   uint32_t task)
{
	const struct tp_timeline *timeline = &role_context->analysis->timelines[task];
	size_t next = 0;
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		if (segment->state == TP_STATE_BLOCKED)
			continue;
		found->awake_ns += segment->end_ns - segment->start_ns;
		size_t first = skip_before(role_context, next, segment->start_ns);
		next = skip_before(role_context, first, segment->end_ns);
		found->beside += next - first;
	}
}

static bool is_main_function(const struct role_context *role_context, uint64_t function)
{
	uint64_t ns = 0;
	return tp_map_get(&role_context->main.ns, function, &ns) &&
	       (double)ns >= TP_MAIN_DOES_MIN * (double)role_context->main.total_ns;
}

static void gather_work(struct evidence *found, const struct role_context *role_context,
			uint32_t task)
{
	const struct tp_analysis *analysis = role_context->analysis;
	if (analysis->threads[task].leader != analysis->threads[analysis->main_task].leader)
		return;
	struct tp_function_time own = {0};
	tp_function_time_add(&own, analysis, task);
	size_t cursor = 0;
	uint64_t function;
	uint64_t ns;
	while (tp_map_next(&own.ns, &cursor, &function, &ns))
		if (is_main_function(role_context, function))
			found->shared_ns += ns;
	found->work_ns = own.total_ns;
	tp_function_time_release(&own);
	count_overlaps(found, role_context, task);
}

static struct evidence gather(const struct role_context *role_context, uint32_t task)
{
	const struct tp_analysis *analysis = role_context->analysis;
	const struct tp_trace *trace = analysis->trace;
	const struct tp_thread_info *info = &analysis->threads[task];
	struct evidence found = {.on_cpu_ns = info->on_cpu_ns,
				 .loader_ns = tp_thread_role_loader_ns(info),
				 .compute_ns = tp_thread_role_compute_ns(info)};
	gather_work(&found, role_context, task);
	for (size_t i = trace->sample_index[task]; i < trace->sample_index[task + 1]; i++) {
		const struct tp_stack_class *class = &analysis->classes[trace->samples[i].stack];
		bool is_idle = class->doing == TP_FUNCTION_WAIT_WORK ||
			       class->doing == TP_FUNCTION_WAIT_ROOM;
		bool is_loader = class->is_loader_root || class->phase == TP_PHASE_DATALOADER;
		found.n += trace->samples[i].stack != 0;
		found.idle += is_idle;
		found.loader += is_loader;
		found.busy_loader += is_loader && !is_idle;
		found.team += class->is_team_root || class->phase == TP_PHASE_COMPUTE;
		found.comm += class->is_comm_root || class->phase == TP_PHASE_COMMUNICATION;
		found.helper += class->is_helper_root;
		found.pool_helper += class->is_helper_root && class->phase != TP_PHASE_DATALOADER;
	}
	return found;
}

static void add(struct evidence *sum, const struct evidence *more)
{
	sum->n += more->n;
	sum->idle += more->idle;
	sum->loader += more->loader;
	sum->busy_loader += more->busy_loader;
	sum->team += more->team;
	sum->comm += more->comm;
	sum->helper += more->helper;
	sum->pool_helper += more->pool_helper;
	sum->on_cpu_ns += more->on_cpu_ns;
	sum->loader_ns += more->loader_ns;
	sum->compute_ns += more->compute_ns;
	sum->awake_ns += more->awake_ns;
	sum->beside += more->beside;
	sum->shared_ns += more->shared_ns;
	sum->work_ns += more->work_ns;
}

static struct evidence *group_of(struct role_context *role_context, uint64_t entry)
{
	uint64_t at;
	if (!tp_map_get(&role_context->groups, entry, &at)) {
		at = role_context->n_sums;
		TP_ARRAY_PUSH(role_context->sums, role_context->n_sums,
			      role_context->sums_capacity) = (struct evidence){0};
		tp_map_set(&role_context->groups, entry, at);
	}
	return &role_context->sums[at];
}

static bool is_of_trainer(const struct tp_analysis *analysis, uint32_t task)
{
	uint32_t leader = analysis->threads[task].leader;
	return analysis->roles[leader] == TP_ROLE_TRAINER && task != leader &&
	       task != analysis->main_task;
}

static void collect_main_work(struct role_context *role_context)
{
	const struct tp_analysis *analysis = role_context->analysis;
	const struct tp_trace *trace = analysis->trace;
	uint32_t task = analysis->main_task;
	tp_function_time_add(&role_context->main, analysis, task);
	for (size_t i = trace->sample_index[task]; i < trace->sample_index[task + 1]; i++)
		if (is_main_at_work(analysis, &trace->samples[i]))
			TP_ARRAY_PUSH(role_context->main_ns, role_context->n_main,
				      role_context->main_capacity) = trace->samples[i].time_ns;
}

static void collect_evidence(struct role_context *role_context)
{
	const struct tp_analysis *analysis = role_context->analysis;
	collect_main_work(role_context);
	for (uint32_t i = 0; i < analysis->trace->n_tasks; i++) {
		if (!is_of_trainer(analysis, i))
			continue;
		role_context->evidence[i] = gather(role_context, i);
		role_context->on_cpu_ns += role_context->evidence[i].on_cpu_ns;
		if (role_context->evidence[i].n >= TP_THREAD_SAMPLES_MIN)
			continue;
		role_context->entries[i] = entry_of_thread(role_context, i);
		if (role_context->entries[i])
			add(group_of(role_context, role_context->entries[i]),
			    &role_context->evidence[i]);
	}
}

/* ---- verdict ---------------------------------------------------------------- */

/* Returns true if the thread does its own work while the main thread works: it runs other
 * functions, and is awake during the main thread's work as often as chance predicts, while a team
 * thread would have to wait then. Such a thread prepares data that the main thread needs later. */
static bool works_ahead(const struct role_context *role_context, const struct evidence *e)
{
	if ((double)e->shared_ns > TP_SAME_WORK_MIN * (double)e->work_ns ||
	    role_context->n_main < TP_MAIN_SAMPLES_MIN || e->beside < TP_MEETINGS_MIN)
		return false;
	uint64_t span_ns =
		role_context->main_ns[role_context->n_main - 1] - role_context->main_ns[0];
	if (!span_ns)
		return false;
	double duty = (double)e->awake_ns / (double)span_ns;
	return (double)e->beside >= TP_AS_IF_ALONE_MIN * duty * (double)role_context->n_main;
}

/* If the trainer loads its data itself, a thread that hardly loads any is not its loader. */
static bool is_main_loader(const struct role_context *role_context, const struct evidence *e)
{
	const struct tp_analysis *analysis = role_context->analysis;
	uint64_t main_ns = tp_thread_role_loader_ns(&analysis->threads[analysis->main_task]);
	return (double)e->loader_ns >= TP_LOADER_OF_MAIN_MIN * (double)main_ns;
}

/* A pool's thread may wait for work most of the time: then what it does between the waits counts,
 * if enough of that was seen. */
static bool is_loading_when_busy(const struct evidence *e)
{
	return e->n >= e->idle + TP_THREAD_SAMPLES_MIN && e->busy_loader * 2 > e->n - e->idle;
}

/* TP_THREAD_MAIN means "no evidence": it is never the result here. A thread that only starts others
 * and waits for them has their role. */
static enum tp_thread_role role_of_evidence(const struct role_context *role_context,
					    const struct evidence *e)
{
	if (!e->n)
		return TP_THREAD_MAIN;
	if (e->loader * 2 > e->n || is_loading_when_busy(e) || e->helper * 2 > e->n)
		return TP_THREAD_LOADER;
	if (e->team * 2 > e->n)
		return TP_THREAD_TEAM;
	if (e->comm * 2 > e->n)
		return TP_THREAD_COMM;
	if (!e->on_cpu_ns)
		return TP_THREAD_OTHER;
	if ((double)e->loader_ns > TP_THREAD_READING_MIN * (double)e->on_cpu_ns)
		return is_main_loader(role_context, e) ? TP_THREAD_LOADER : TP_THREAD_OTHER;
	if ((double)e->compute_ns <= TP_THREAD_MAJORITY * (double)e->on_cpu_ns)
		return TP_THREAD_OTHER;
	/* No sample may show its work: a pool's thread without tasks that queues for a CPU. */
	if (!e->work_ns ||
	    (double)e->on_cpu_ns < TP_THREAD_TEAM_MIN * (double)role_context->on_cpu_ns)
		return TP_THREAD_MAIN;
	return works_ahead(role_context, e) ? TP_THREAD_LOADER : TP_THREAD_TEAM;
}

/* A thread that passes on the results of computing processes makes no batches. A queue's feeder
 * serves loader processes where there are some. */
static bool serves_pool(const struct tp_analysis *analysis, uint32_t trainer,
			const struct evidence *e)
{
	const struct tp_trace *trace = analysis->trace;
	bool has_pool = false;
	bool has_loader = false;
	if (e->helper * 2 <= e->n || !analysis->pool_owners)
		return false;
	for (uint32_t i = 0; i < trace->n_tasks; i++) {
		uint32_t parent = trace->tasks[i].parent;
		has_pool |= analysis->pool_owners[i] == trainer;
		has_loader |= analysis->roles[i] == TP_ROLE_LOADER && parent != TP_NO_TASK &&
			      analysis->threads[parent].leader == trainer;
	}
	return has_pool && (!has_loader || e->pool_helper * 2 > e->n);
}

static enum tp_thread_role thread_role_of(struct role_context *role_context, uint32_t task)
{
	const struct tp_analysis *analysis = role_context->analysis;
	const struct tp_trace *trace = analysis->trace;
	enum tp_thread_role by_name =
		tp_patterns_thread(analysis->patterns,
				   tp_trace_string(trace, trace->tasks[task].comm));
	if (by_name)
		return by_name;
	const struct evidence *e = role_context->entries[task]
					   ? group_of(role_context, role_context->entries[task])
					   : &role_context->evidence[task];
	enum tp_thread_role role = role_of_evidence(role_context, e);
	if (serves_pool(analysis, analysis->threads[task].leader, e))
		return TP_THREAD_OTHER;
	bool is_named = role == TP_THREAD_TEAM && e->team * 2 > e->n;
	if (role == TP_THREAD_LOADER || role == TP_THREAD_COMM || is_named)
		return role;
	return tp_data_waker_is(analysis, task) ? TP_THREAD_LOADER : role;
}

/* Short-lived threads are often never sampled; they get the role of their sampled siblings. */
static enum tp_thread_role most_common_role(const struct tp_analysis *analysis, uint32_t leader)
{
	uint64_t time_ns[TP_THREAD_COMM + 1] = {0};
	const struct tp_trace *trace = analysis->trace;
	for (uint32_t i = 0; i < trace->n_tasks; i++) {
		const struct tp_thread_info *info = &analysis->threads[i];
		if (info->leader == leader && i != analysis->main_task && i != leader)
			time_ns[info->role] += info->on_cpu_ns;
	}
	enum tp_thread_role best = TP_THREAD_OTHER;
	for (int role = TP_THREAD_TEAM; role <= TP_THREAD_COMM; role++)
		if (time_ns[role] > time_ns[best])
			best = (enum tp_thread_role)role;
	return best;
}

/* Returns true if most of its stacks begin in a function that forwards data made by others. */
static bool is_helper(const struct tp_analysis *analysis, uint32_t task)
{
	const struct tp_trace *trace = analysis->trace;
	size_t n = 0;
	size_t helper = 0;
	for (size_t i = trace->sample_index[task]; i < trace->sample_index[task + 1]; i++) {
		uint32_t stack = trace->samples[i].stack;
		n += stack != 0;
		helper += analysis->classes[stack].is_helper_root;
	}
	return helper * 2 > n;
}

void tp_thread_role_assign(struct tp_analysis *analysis)
{
	size_t n = analysis->trace->n_tasks;
	struct role_context role_context = {.analysis = analysis};
	role_context.evidence = tp_alloc((n + 1) * sizeof(*role_context.evidence));
	role_context.entries = tp_alloc((n + 1) * sizeof(*role_context.entries));
	collect_evidence(&role_context);
	for (uint32_t i = 0; i < n; i++) {
		struct tp_thread_info *info = &analysis->threads[i];
		if (analysis->roles[info->leader] == TP_ROLE_LOADER)
			info->role = TP_THREAD_LOADER;
		else if (analysis->roles[info->leader] == TP_ROLE_WORKER)
			info->role = TP_THREAD_TEAM;
		else if (i == analysis->main_task)
			info->role = TP_THREAD_MAIN;
		else if (is_of_trainer(analysis, i))
			info->role = thread_role_of(&role_context, i);
	}
	for (uint32_t i = 0; i < n; i++) {
		struct tp_thread_info *info = &analysis->threads[i];
		if (info->role == TP_THREAD_MAIN && i != analysis->main_task)
			info->role = most_common_role(analysis, info->leader);
		info->is_helper = info->role == TP_THREAD_LOADER && is_helper(analysis, i);
	}
	tp_function_time_release(&role_context.main);
	tp_map_release(&role_context.kinds);
	tp_map_release(&role_context.groups);
	free(role_context.main_ns);
	free(role_context.sums);
	free(role_context.evidence);
	free(role_context.entries);
}
