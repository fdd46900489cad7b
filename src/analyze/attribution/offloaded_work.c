/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out whether the main thread hands whole steps to a pool of threads. */
#include "offloaded_work.h"

#include "analyze/classify/frame_class.h"
#include "analyze/thresholds.h"
#include "group_activity.h"

/* CPU time of a thread, and from when to when it had that. */
struct work {
	uint64_t sum_ns;
	uint64_t start_ns;
	uint64_t end_ns;
};

/* Adds up the thread's time in math or in an unknown function, as a thread of that role. */
static struct work math_of(const struct tp_analysis *analysis, uint32_t task,
			   enum tp_thread_role role, uint64_t from_ns, uint64_t until_ns)
{
	struct work math = {0};
	const struct tp_timeline *timeline = &analysis->timelines[task];
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		if (segment->state != TP_STATE_ON_CPU || segment->sample == TP_NO_SAMPLE ||
		    !tp_activity_is_of(analysis, role, task, segment))
			continue;
		const struct tp_stack_class *class =
			&analysis->classes[analysis->trace->samples[segment->sample].stack];
		bool is_math = class->leaf == TP_LEAF_MATH || class->leaf == TP_LEAF_NONE;
		uint64_t ns = tp_segment_ns_in(segment, from_ns, until_ns);
		if (!ns || !is_math || tp_phase_owns_time(class->phase))
			continue;
		math.start_ns = math.sum_ns ? math.start_ns : segment->start_ns;
		math.end_ns = segment->end_ns;
		math.sum_ns += ns;
	}
	return math;
}

static struct work most_math(const struct tp_analysis *analysis)
{
	struct work most = {0};
	for (uint32_t task = 0; task < analysis->trace->n_tasks; task++) {
		if (analysis->threads[task].leader != analysis->profile->trainer)
			continue;
		struct work math = math_of(analysis, task, TP_THREAD_TEAM, 0, UINT64_MAX);
		most = math.sum_ns > most.sum_ns ? math : most;
	}
	return most;
}

static uint64_t futex_ns(const struct tp_analysis *analysis, uint64_t from_ns, uint64_t until_ns)
{
	uint64_t sum = 0;
	const struct tp_timeline *timeline = tp_analysis_timeline(analysis, analysis->main_task);
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		if (segment->state == TP_STATE_BLOCKED && segment->cause == TP_CAUSE_FUTEX)
			sum += tp_segment_ns_in(segment, from_ns, until_ns);
	}
	return sum;
}

/* Only while the pool is at work: what the main thread computes before (imports, building the
 * model) and shortly afterwards it could not hand over. A pool that only works at the beginning,
 * such as one that compiles, has no part in what follows for longer. */
bool tp_offloaded_work_is_seen(const struct tp_analysis *analysis)
{
	struct work pool = most_math(analysis);
	uint64_t from_ns = pool.start_ns;
	uint64_t until_ns = pool.end_ns;
	if (analysis->trace->end_ns - until_ns > until_ns - from_ns)
		until_ns = UINT64_MAX;
	struct work own = math_of(analysis, analysis->main_task, TP_THREAD_MAIN, from_ns, until_ns);
	double main_ns = (double)own.sum_ns;
	return main_ns < TP_DELEGATOR_WORKS_MAX * (double)pool.sum_ns &&
	       main_ns < TP_DELEGATOR_COMPUTES_MAX * (double)futex_ns(analysis, from_ns, until_ns);
}
