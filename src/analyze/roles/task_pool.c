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

static uint32_t owner_of(const struct tp_analysis *analysis, uint32_t leader)
{
	uint32_t parent = analysis->trace->tasks[leader].parent;
	return parent == TP_NO_TASK ? TP_NO_TASK : analysis->threads[parent].leader;
}

/* Its first thread is in the main loop of a worker most of the time. */
static bool is_pool_process(const struct tp_analysis *analysis, uint32_t leader)
{
	const struct tp_trace *trace = analysis->trace;
	size_t n = 0;
	size_t n_tasks = 0;
	if (analysis->threads[leader].leader != leader || owner_of(analysis, leader) == TP_NO_TASK)
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

static uint64_t length_ns(const struct tp_timeline *timeline)
{
	size_t n = timeline->n;
	return n ? timeline->segments[n - 1].end_ns - timeline->segments[0].start_ns : 0;
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

/* Math in the owner and none in the workers is a model that is trained on what they prepare. */
static bool computes_for(const struct tp_analysis *analysis, uint32_t owner,
			 const struct process_work *workers)
{
	struct process_work own = {0};
	add_process(&own, analysis, owner);
	double is_math = share(own.math_ns, own.computes_ns);
	return !trains_model(analysis, owner, &own) &&
	       share(workers->loads_ns, workers->on_cpu_ns) < TP_POOL_LOADS_MAX &&
	       share(own.computes_ns, length_ns(&analysis->timelines[owner])) <
		       TP_POOL_OWNER_COMPUTES_MAX &&
	       (is_math < TP_PROCESS_MAJORITY ||
		share(workers->math_ns, workers->computes_ns) > TP_POOL_MATH_MIN * is_math);
}

void tp_task_pool_assign(struct tp_analysis *analysis)
{
	size_t n = analysis->trace->n_tasks;
	struct process_work *by_owner = tp_arena_array(analysis->arena, n, sizeof(*by_owner));
	bool *is_pool = tp_arena_array(analysis->arena, n, sizeof(*is_pool));
	for (uint32_t i = 0; i < n; i++) {
		is_pool[i] = is_pool_process(analysis, i);
		if (is_pool[i])
			add_process(&by_owner[owner_of(analysis, i)], analysis, i);
	}
	for (uint32_t i = 0; i < n; i++)
		is_pool[i] = is_pool[i] && computes_for(analysis, owner_of(analysis, i),
							&by_owner[owner_of(analysis, i)]);
	for (uint32_t i = 0; i < n; i++) {
		if (!is_pool[i])
			continue;
		analysis->roles[i] = TP_ROLE_WORKER;
		analysis->roles[owner_of(analysis, i)] = TP_ROLE_TRAINER;
	}
}

bool tp_task_pool_has_worker(const struct tp_analysis *analysis, uint32_t trainer, uint32_t leader)
{
	return analysis->roles[leader] == TP_ROLE_WORKER && owner_of(analysis, leader) == trainer;
}

size_t tp_task_pool_count(const struct tp_analysis *analysis)
{
	size_t n = 0;
	for (uint32_t i = 0; i < analysis->trace->n_tasks; i++)
		n += tp_task_pool_has_worker(analysis, analysis->profile->trainer, i);
	return n;
}
