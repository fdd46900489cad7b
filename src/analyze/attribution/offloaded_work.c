/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out whether the main thread hands whole steps to a pool of threads. */
#include "offloaded_work.h"

#include "analyze/classify/frame_class.h"
#include "analyze/thresholds.h"
#include "group_activity.h"

/* CPU time as a thread of that role, in math or in an unknown function. */
static uint64_t math_ns(const struct tp_analysis *analysis, uint32_t task, enum tp_thread_role role)
{
	uint64_t sum = 0;
	const struct tp_timeline *timeline = &analysis->timelines[task];
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		if (segment->state != TP_STATE_ON_CPU || segment->sample == TP_NO_SAMPLE ||
		    !tp_activity_is_of(analysis, role, task, segment))
			continue;
		const struct tp_stack_class *class =
			&analysis->classes[analysis->trace->samples[segment->sample].stack];
		bool is_math = class->leaf == TP_LEAF_MATH || class->leaf == TP_LEAF_NONE;
		if (is_math && !tp_phase_owns_time(class->phase))
			sum += segment->end_ns - segment->start_ns;
	}
	return sum;
}

static uint64_t max_math_ns(const struct tp_analysis *analysis)
{
	uint64_t busiest = 0;
	for (uint32_t task = 0; task < analysis->trace->n_tasks; task++) {
		if (analysis->threads[task].leader != analysis->profile->trainer)
			continue;
		uint64_t ns = math_ns(analysis, task, TP_THREAD_TEAM);
		busiest = ns > busiest ? ns : busiest;
	}
	return busiest;
}

static uint64_t futex_ns(const struct tp_analysis *analysis)
{
	uint64_t sum = 0;
	const struct tp_timeline *timeline = tp_analysis_timeline(analysis, analysis->main_task);
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		if (segment->state == TP_STATE_BLOCKED && segment->cause == TP_CAUSE_FUTEX)
			sum += segment->end_ns - segment->start_ns;
	}
	return sum;
}

bool tp_offloaded_work_is_seen(const struct tp_analysis *analysis)
{
	double main_ns = (double)math_ns(analysis, analysis->main_task, TP_THREAD_MAIN);
	return main_ns < TP_DELEGATOR_WORKS_MAX * (double)max_math_ns(analysis) &&
	       main_ns < TP_DELEGATOR_COMPUTES_MAX * (double)futex_ns(analysis);
}
