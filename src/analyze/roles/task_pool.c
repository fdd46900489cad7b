/* SPDX-License-Identifier: Apache-2.0 */
/* Finds pools of processes that compute what the training process only hands out and collects. */
#include "task_pool.h"

#include "analyze/thresholds.h"
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

/* Returns true if a thread of the process sends the tasks of a pool and takes its results. */
static bool has_pool_threads(const struct tp_analysis *analysis, uint32_t leader)
{
	const struct tp_trace *trace = analysis->trace;
	for (uint32_t task = leader; task != TP_NO_TASK; task = analysis->threads[task].next)
		for (size_t i = trace->sample_index[task]; i < trace->sample_index[task + 1]; i++) {
			const struct tp_stack_class *class =
				&analysis->classes[trace->samples[i].stack];
			if (class->is_helper_root && class->phase != TP_PHASE_DATALOADER)
				return true;
		}
	return false;
}

/* The nearest process above it that waits for results of a pool: a fork server, which starts the
 * workers, does not. Where none was seen to, the parent. */
static uint32_t find_owner(const struct tp_analysis *analysis, uint32_t leader)
{
	uint32_t parent = parent_of(analysis, leader);
	uint32_t up = parent;
	for (size_t depth = 0; up != TP_NO_TASK && depth < analysis->trace->n_tasks; depth++) {
		if (has_pool_threads(analysis, up))
			return up;
		up = parent_of(analysis, up);
	}
	return parent;
}

/* Its first thread is in the main loop of a worker most of the time. */
static bool is_pool_process(const struct tp_analysis *analysis, uint32_t leader)
{
	const struct tp_trace *trace = analysis->trace;
	size_t n = 0;
	size_t n_tasks = 0;
	if (analysis->threads[leader].leader != leader || parent_of(analysis, leader) == TP_NO_TASK)
		return false;
	for (size_t i = trace->sample_index[leader]; i < trace->sample_index[leader + 1]; i++) {
		const struct tp_stack_class *class = &analysis->classes[trace->samples[i].stack];
		n += class->has_python && class->phase != TP_PHASE_IMPORT;
		n_tasks += class->is_task_root;
	}
	return n && (double)n_tasks > TP_PROCESS_MAJORITY * (double)n;
}

static double share(uint64_t part_ns, uint64_t whole_ns)
{
	return whole_ns ? (double)part_ns / (double)whole_ns : 0;
}

/* Returns true for a process that trains a model itself, however little of its time that takes: its
 * pool prepares the data. So does the pool of a process without step marks beside one with. */
static bool trains_model(const struct tp_analysis *analysis, uint32_t owner,
			 const struct process_work *own)
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
	return (any_marks && !is_marked) || analysis->roles[owner] == TP_ROLE_LOADER ||
	       (double)own->model_ns > TP_TRAINER_MODEL_MIN * (double)own->computes_ns;
}

/* When a pool had workers, by their owner. */
struct pool_span {
	uint64_t start_ns;
	uint64_t end_ns;
};

static void add_span(struct pool_span *span, const struct tp_trace *trace, uint32_t leader)
{
	uint64_t start_ns = trace->tasks[leader].start_ns;
	uint64_t end_ns = trace->tasks[leader].end_ns ? trace->tasks[leader].end_ns : trace->end_ns;
	span->start_ns = span->end_ns && span->start_ns < start_ns ? span->start_ns : start_ns;
	span->end_ns = span->end_ns > end_ns ? span->end_ns : end_ns;
}

/* Returns true for work that counts as computes_ns of a process. */
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

/* Math in the owner and none in the workers is a model that is trained on what they prepare, and so
 * is work of the owner after their end. */
static bool computes_for(const struct tp_analysis *analysis, uint32_t owner,
			 const struct process_work *workers, const struct pool_span *span)
{
	struct process_work own = {0};
	add_process(&own, analysis, owner);
	double is_math = share(own.math_ns, own.computes_ns);
	uint64_t length_ns = span->end_ns - span->start_ns;
	uint64_t beside_ns = computes_between_ns(analysis, owner, span->start_ns, span->end_ns);
	uint64_t after_ns = computes_between_ns(analysis, owner, span->end_ns, UINT64_MAX);
	return !trains_model(analysis, owner, &own) &&
	       share(workers->loads_ns, workers->on_cpu_ns) < TP_POOL_LOADS_MAX &&
	       share(beside_ns, length_ns) < TP_POOL_OWNER_COMPUTES_MAX &&
	       share(after_ns, length_ns) < TP_POOL_OWNER_COMPUTES_MAX &&
	       (is_math < TP_PROCESS_MAJORITY ||
		share(workers->math_ns, workers->computes_ns) > TP_POOL_MATH_MIN * is_math);
}

/* A worker that is no TP_ROLE_WORKER is no trainer either: it prepares what its owner uses. */
static void set_roles(struct tp_analysis *analysis, uint32_t leader, uint32_t owner, bool computes)
{
	if (computes)
		analysis->roles[leader] = TP_ROLE_WORKER;
	else if (analysis->roles[leader] == TP_ROLE_TRAINER)
		analysis->roles[leader] = TP_ROLE_LOADER;
	if (computes || analysis->roles[owner] == TP_ROLE_OTHER)
		analysis->roles[owner] = TP_ROLE_TRAINER;
}

void tp_task_pool_assign(struct tp_analysis *analysis)
{
	size_t n = analysis->trace->n_tasks;
	struct process_work *by_owner = tp_arena_array(analysis->arena, n, sizeof(*by_owner));
	struct pool_span *spans = tp_arena_array(analysis->arena, n, sizeof(*spans));
	uint32_t *owners = tp_arena_array(analysis->arena, n, sizeof(*owners));
	analysis->pool_owners = tp_arena_array(analysis->arena, n, sizeof(*owners));
	for (uint32_t i = 0; i < n; i++) {
		owners[i] = is_pool_process(analysis, i) ? find_owner(analysis, i) : TP_NO_TASK;
		if (owners[i] == TP_NO_TASK)
			continue;
		add_process(&by_owner[owners[i]], analysis, i);
		add_span(&spans[owners[i]], analysis->trace, i);
	}
	/* Judged before any role changes, because an owner's role counts. */
	for (uint32_t i = 0; i < n; i++) {
		uint32_t owner = owners[i];
		bool computes = owner != TP_NO_TASK &&
				computes_for(analysis, owner, &by_owner[owner], &spans[owner]);
		analysis->pool_owners[i] = computes ? owner : TP_NO_TASK;
	}
	for (uint32_t i = 0; i < n; i++)
		if (owners[i] != TP_NO_TASK)
			set_roles(analysis, i, owners[i], analysis->pool_owners[i] != TP_NO_TASK);
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
