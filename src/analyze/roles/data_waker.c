/* SPDX-License-Identifier: Apache-2.0 */
/* Compares when a thread runs with when the main thread's waits end. */
#include "data_waker.h"

#include "analyze/thresholds.h"

static bool is_long_wait(const struct tp_segment *segment)
{
	return segment->state == TP_STATE_BLOCKED && !segment->is_sampled &&
	       segment->sample != TP_NO_SAMPLE &&
	       segment->end_ns - segment->start_ns >= TP_LONG_WAIT_NS;
}

static bool sleeps_most_times(const struct tp_timeline *timeline)
{
	uint64_t awake_ns = 0;
	uint64_t all_ns = 0;
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		all_ns += segment->end_ns - segment->start_ns;
		if (segment->state != TP_STATE_BLOCKED)
			awake_ns += segment->end_ns - segment->start_ns;
	}
	return (double)awake_ns < TP_WAKER_AWAKE_MAX * (double)all_ns;
}

/* Returns true if the thread is on a CPU when that wait ends. `at` advances with the waits. */
static bool is_waker(const struct tp_timeline *timeline, const struct tp_segment *wait, size_t *at)
{
	while (*at < timeline->n && timeline->segments[*at].end_ns <= wait->end_ns - TP_WAKER_NS)
		(*at)++;
	for (size_t i = *at; i < timeline->n; i++) {
		if (timeline->segments[i].start_ns >= wait->end_ns)
			return false;
		if (timeline->segments[i].state == TP_STATE_ON_CPU)
			return true;
	}
	return false;
}

bool tp_data_waker_is(const struct tp_analysis *analysis, uint32_t task)
{
	const struct tp_timeline *main = tp_analysis_timeline(analysis, analysis->main_task);
	const struct tp_timeline *own = &analysis->timelines[task];
	size_t n_waits = 0;
	size_t n_ended = 0;
	size_t n_others = 0;
	size_t at = 0;
	for (size_t i = 0; i < main->n; i++) {
		const struct tp_segment *wait = &main->segments[i];
		if (!is_long_wait(wait))
			continue;
		uint32_t stack = analysis->trace->samples[wait->sample].stack;
		bool is_for_data = analysis->classes[stack].phase == TP_PHASE_DATALOADER;
		bool is_ended = is_waker(own, wait, &at);
		n_waits += is_for_data;
		n_ended += is_for_data && is_ended;
		n_others += !is_for_data && is_ended;
	}
	return n_waits >= TP_WAKER_WAITS_MIN &&
	       (double)n_ended > TP_THREAD_MAJORITY * (double)n_waits &&
	       (double)n_others < TP_WAKER_OTHERS_MAX * (double)n_ended && sleeps_most_times(own);
}
