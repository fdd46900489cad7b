/* SPDX-License-Identifier: Apache-2.0 */
/* Finds pools of processes that compute what the training process only hands out and collects. */
#include "task_pool.h"

#include "analyze/thresholds.h"
#include "function_time.h"
#include "thread_role.h"

/* CPU time of a process, or of all workers of an owner. */
struct process_work {
	uint64_t on_cpu_ns;
	uint64_t loads_ns;    /* reading, decoding, passing on */
	uint64_t computes_ns; /* the rest, without importing modules */
	uint64_t math_ns;
	uint64_t model_ns; /* by names: forward, backward, gradient exchange */
};

static void add_process(struct process_work *sum, const struct tp_analysis *analysis,
			uint32_t leader)
{
	for (uint32_t i = leader; i != TP_NO_TASK; i = analysis->threads[i].next) {
		const struct tp_thread_info *info = &analysis->threads[i];
		uint64_t computes_ns = tp_thread_role_compute_ns(info);
		uint64_t imports_ns = info->phase_ns[TP_PHASE_IMPORT];
		sum->on_cpu_ns += info->on_cpu_ns;
		sum->loads_ns += tp_thread_role_loader_ns(info);
		sum->computes_ns += computes_ns > imports_ns ? computes_ns - imports_ns : 0;
		sum->math_ns += info->leaf_ns[TP_LEAF_MATH];
		sum->model_ns +=
			info->phase_ns[TP_PHASE_COMPUTE] + info->phase_ns[TP_PHASE_COMMUNICATION];
	}
}

static uint32_t parent_of(const struct tp_analysis *analysis, uint32_t leader)
{
	uint32_t parent = analysis->trace->tasks[leader].parent;
	return parent == TP_NO_TASK ? TP_NO_TASK : analysis->threads[parent].leader;
}

enum main_loop { LOOP_OF_WORKER, LOOP_OF_FORK_SERVER };

/* Its first thread is in such a loop most of the time. A worker that a fork server just forked has
 * frames of the server's loop, too. */
static bool runs_loop(const struct tp_analysis *analysis, uint32_t leader, enum main_loop loop)
{
	const struct tp_trace *trace = analysis->trace;
	size_t n = 0;
	size_t n_in = 0;
	for (size_t i = trace->sample_index[leader]; i < trace->sample_index[leader + 1]; i++) {
		const struct tp_stack_class *class = &analysis->classes[trace->samples[i].stack];
		n += class->has_python && class->phase != TP_PHASE_IMPORT;
		n_in += loop == LOOP_OF_WORKER ? class->is_task_root : class->is_fork_server;
	}
	return n && (double)n_in > TP_PROCESS_MAJORITY * (double)n;
}

static bool is_pool_process(const struct tp_analysis *analysis, uint32_t leader)
{
	return analysis->threads[leader].leader == leader &&
	       parent_of(analysis, leader) != TP_NO_TASK &&
	       runs_loop(analysis, leader, LOOP_OF_WORKER);
}

static double share(uint64_t part_ns, uint64_t whole_ns)
{
	return whole_ns ? (double)part_ns / (double)whole_ns : 0;
}

/* Returns true for a process without step marks beside one with, or one that loads: its pool
 * prepares data. */
static bool is_no_trainer(const struct tp_analysis *analysis, uint32_t owner)
{
	const struct tp_trace *trace = analysis->trace;
	bool is_marked = false;
	bool any_marks = false;
	for (size_t i = 0; i < trace->n_marks; i++) {
		const struct tp_mark *mark = &trace->marks[i];
		if (mark->kind != TP_MARK_STEP || mark->task == TP_NO_TASK)
			continue;
		any_marks = true;
		is_marked |= analysis->threads[mark->task].leader == owner;
	}
	return (any_marks && !is_marked) || analysis->roles[owner] == TP_ROLE_LOADER;
}

/* When a pool had workers. */
struct pool_span {
	uint64_t start_ns;
	uint64_t end_ns;
};

/* The activity of a pool's workers. */
enum pool_kind {
	POOL_COMPUTES, /* the work of their owner */
	POOL_LOADS,    /* they prepare what their owner trains on */
	POOL_UNCLEAR,
};

/* All workers of one owner. */
struct pool {
	struct process_work work;
	struct tp_function_time functions; /* heap */
	struct pool_span span;
	enum pool_kind kind;
	bool is_owner_known; /* `owner` is set: this process is the parent of a worker */
	uint32_t owner;      /* of the workers that this process starts: itself, or the process
				for which a fork server works */
};

/* Stores the owner at the parent, because a pool may replace its workers thousands of times. */
static uint32_t find_owner(const struct tp_analysis *analysis, struct pool *pools, uint32_t leader)
{
	uint32_t parent = parent_of(analysis, leader);
	struct pool *pool = &pools[parent];
	if (!pool->is_owner_known) {
		uint32_t up = parent_of(analysis, parent);
		pool->owner = up != TP_NO_TASK && runs_loop(analysis, parent, LOOP_OF_FORK_SERVER)
				      ? up
				      : parent;
		pool->is_owner_known = true;
	}
	return pool->owner;
}

static void add_span(struct pool_span *span, const struct tp_trace *trace, uint32_t leader)
{
	uint64_t start_ns = trace->tasks[leader].start_ns;
	uint64_t end_ns = trace->tasks[leader].end_ns ? trace->tasks[leader].end_ns : trace->end_ns;
	span->start_ns = span->end_ns && span->start_ns < start_ns ? span->start_ns : start_ns;
	span->end_ns = span->end_ns > end_ns ? span->end_ns : end_ns;
}

/* Computing as in tp_thread_role_compute_ns, without imports, but decided for each segment: so it
 * can be summed over a part of a process' life. */
static bool is_computing(const struct tp_analysis *analysis, const struct tp_segment *segment)
{
	if (segment->state != TP_STATE_ON_CPU || segment->sample == TP_NO_SAMPLE)
		return segment->state == TP_STATE_ON_CPU;
	const struct tp_stack_class *class =
		&analysis->classes[analysis->trace->samples[segment->sample].stack];
	switch (class->phase) {
	case TP_PHASE_IMPORT:
	case TP_PHASE_CHECKPOINT:
	case TP_PHASE_LOGGING:
	case TP_PHASE_COMMUNICATION:
	case TP_PHASE_DATALOADER:
		return false;
	default:
		return class->leaf != TP_LEAF_DECODE && class->leaf != TP_LEAF_PICKLE &&
		       class->leaf != TP_LEAF_READ && class->leaf != TP_LEAF_OPEN;
	}
}

static uint64_t computes_between_ns(const struct tp_analysis *analysis, uint32_t leader,
				    uint64_t from_ns, uint64_t to_ns)
{
	uint64_t sum = 0;
	for (uint32_t task = leader; task != TP_NO_TASK; task = analysis->threads[task].next) {
		const struct tp_timeline *timeline = &analysis->timelines[task];
		for (size_t i = 0; i < timeline->n; i++) {
			if (is_computing(analysis, &timeline->segments[i]))
				sum += tp_segment_ns_in(&timeline->segments[i], from_ns, to_ns);
		}
	}
	return sum;
}

/* Returns the function that computes: the native one, or the innermost in Python; 0 = unknown. */
static uint64_t function_of(const struct tp_analysis *analysis, uint32_t stack_id)
{
	const struct tp_trace *trace = analysis->trace;
	const struct tp_stack *stack = &trace->stacks[stack_id];
	if (tp_function_time_is_work(&analysis->classes[stack_id]))
		return analysis->classes[stack_id].function;
	for (uint32_t i = 0; i < stack->n_frames; i++) {
		const struct tp_frame *frame = &trace->frames[stack->frames[i]];
		if (frame->kind == TP_FRAME_PYTHON)
			return tp_hash_mix(frame->file, frame->symbol);
	}
	return 0;
}

static void add_functions(struct tp_function_time *sum, const struct tp_analysis *analysis,
			  uint32_t leader)
{
	for (uint32_t task = leader; task != TP_NO_TASK; task = analysis->threads[task].next) {
		const struct tp_timeline *timeline = &analysis->timelines[task];
		for (size_t i = 0; i < timeline->n; i++) {
			const struct tp_segment *segment = &timeline->segments[i];
			if (segment->sample == TP_NO_SAMPLE || !is_computing(analysis, segment))
				continue;
			uint64_t function =
				function_of(analysis,
					    analysis->trace->samples[segment->sample].stack);
			if (!function)
				continue;
			uint64_t length_ns = segment->end_ns - segment->start_ns;
			uint64_t before_ns = 0;
			(void)tp_map_get(&sum->ns, function, &before_ns);
			tp_map_set(&sum->ns, function, before_ns + length_ns);
			sum->total_ns += length_ns;
		}
	}
}

/* Returns true if the owner calls the functions that its workers call: the last fit of a search is
 * no training on what the other fits prepared. */
static bool is_same_work(const struct tp_analysis *analysis, uint32_t owner,
			 const struct pool *pool)
{
	struct tp_function_time own = {0};
	add_functions(&own, analysis, owner);
	bool is_same = tp_function_time_overlap(&own, &pool->functions) > TP_RANK_TWINS_MIN;
	tp_function_time_release(&own);
	return is_same;
}

/* Math in the owner and none in the workers is a model that is trained on what they prepare. Other
 * work of the owner after their end may be such a training, or not. */
static enum pool_kind kind_of_pool(const struct tp_analysis *analysis, uint32_t owner,
				   const struct pool *pool)
{
	struct process_work own = {0};
	add_process(&own, analysis, owner);
	const struct process_work *workers = &pool->work;
	const struct pool_span *span = &pool->span;
	double is_math = share(own.math_ns, own.computes_ns);
	uint64_t length_ns = span->end_ns - span->start_ns;
	uint64_t beside_ns = computes_between_ns(analysis, owner, span->start_ns, span->end_ns);
	uint64_t after_ns = computes_between_ns(analysis, owner, span->end_ns, UINT64_MAX);
	bool does_owners_math =
		is_math < TP_PROCESS_MAJORITY ||
		share(workers->math_ns, workers->computes_ns) > TP_POOL_MATH_MIN * is_math;
	if (share(workers->loads_ns, workers->on_cpu_ns) >= TP_POOL_LOADS_MAX || !does_owners_math)
		return POOL_LOADS;
	if (is_no_trainer(analysis, owner) ||
	    share(beside_ns, length_ns) >= TP_POOL_OWNER_COMPUTES_MAX)
		return POOL_UNCLEAR;
	bool trains = (double)own.model_ns > TP_TRAINER_MODEL_MIN * (double)own.computes_ns ||
		      share(after_ns, length_ns) >= TP_POOL_OWNER_COMPUTES_MAX;
	return !trains || is_same_work(analysis, owner, pool) ? POOL_COMPUTES : POOL_UNCLEAR;
}

static void set_roles(struct tp_analysis *analysis, uint32_t leader, uint32_t owner,
		      enum pool_kind kind)
{
	if (kind == POOL_COMPUTES)
		analysis->roles[leader] = TP_ROLE_WORKER;
	else if (kind == POOL_LOADS && analysis->roles[leader] == TP_ROLE_TRAINER)
		analysis->roles[leader] = TP_ROLE_LOADER;
	if (kind == POOL_COMPUTES || analysis->roles[owner] == TP_ROLE_OTHER)
		analysis->roles[owner] = TP_ROLE_TRAINER;
}

void tp_task_pool_assign(struct tp_analysis *analysis)
{
	size_t n = analysis->trace->n_tasks;
	struct pool *pools = tp_arena_array(analysis->arena, n, sizeof(*pools)); /* by owner */
	uint32_t *owners = tp_arena_array(analysis->arena, n, sizeof(*owners));
	analysis->pool_owners = tp_arena_array(analysis->arena, n, sizeof(*owners));
	for (uint32_t i = 0; i < n; i++) {
		owners[i] =
			is_pool_process(analysis, i) ? find_owner(analysis, pools, i) : TP_NO_TASK;
		if (owners[i] == TP_NO_TASK)
			continue;
		struct pool *pool = &pools[owners[i]];
		add_process(&pool->work, analysis, i);
		add_functions(&pool->functions, analysis, i);
		add_span(&pool->span, analysis->trace, i);
	}
	/* Judged before any role changes, because an owner's role counts. */
	for (uint32_t i = 0; i < n; i++)
		if (pools[i].span.end_ns)
			pools[i].kind = kind_of_pool(analysis, i, &pools[i]);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t owner = owners[i];
		bool computes = owner != TP_NO_TASK && pools[owner].kind == POOL_COMPUTES;
		analysis->pool_owners[i] = computes ? owner : TP_NO_TASK;
		if (owner != TP_NO_TASK)
			set_roles(analysis, i, owner, pools[owner].kind);
		tp_function_time_release(&pools[i].functions);
	}
}

bool tp_task_pool_has_worker(const struct tp_analysis *analysis, uint32_t trainer, uint32_t leader)
{
	return analysis->pool_owners && trainer != TP_NO_TASK &&
	       analysis->pool_owners[leader] == trainer;
}

size_t tp_task_pool_count(const struct tp_analysis *analysis, uint32_t trainer)
{
	size_t n = 0;
	for (uint32_t i = 0; i < analysis->trace->n_tasks; i++)
		n += tp_task_pool_has_worker(analysis, trainer, i);
	return n;
}
