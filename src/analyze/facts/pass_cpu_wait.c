/* SPDX-License-Identifier: Apache-2.0 */
/* Use of CPUs by the program's other threads while the trainer waits for one. Needs: timelines,
 * roles, window. Gives: cpu.wait_loader_cpus, cpu.wait_program_cpus. */
#include "analyze/analysis.h"
#include "analyze/numeric/intervals.h"
#include "analyze/thresholds.h"

#include "trainprof/model/fact.h"

#include <stdlib.h>

static uint64_t clipped(uint64_t time_ns, const struct tp_profile *profile)
{
	if (time_ns < profile->window_start_ns)
		return profile->window_start_ns;
	return time_ns < profile->window_end_ns ? time_ns : profile->window_end_ns;
}

/* Collects the times inside the window in which the main thread is runnable without a CPU. */
static void collect_waits(struct tp_intervals *out, const struct tp_analysis *analysis)
{
	const struct tp_timeline *timeline = &analysis->timelines[analysis->main_task];
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		uint64_t start_ns = clipped(segment->start_ns, analysis->profile);
		uint64_t end_ns = clipped(segment->end_ns, analysis->profile);
		if (segment->state == TP_STATE_RUNNABLE && end_ns > start_ns)
			tp_intervals_add(out, start_ns, end_ns);
	}
	tp_intervals_merge(out);
}

static uint64_t on_cpu_ns_in(const struct tp_timeline *timeline, const struct tp_intervals *waits)
{
	uint64_t sum_ns = 0;
	for (size_t i = 0; i < timeline->n; i++)
		if (timeline->segments[i].state == TP_STATE_ON_CPU)
			sum_ns += tp_intervals_covered(waits, timeline->segments[i].start_ns,
						       timeline->segments[i].end_ns);
	return sum_ns;
}

static void set_missing(struct tp_profile *profile, const char *why)
{
	tp_profile_set_missing(profile, TP_FACT_CPU_WAIT_LOADERS, why);
	tp_profile_set_missing(profile, TP_FACT_CPU_WAIT_OTHERS, why);
}

enum tp_status tp_pass_cpu_wait(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	struct tp_profile *profile = analysis->profile;
	if (analysis->main_task == TP_NO_TASK || !analysis->has_runs) {
		set_missing(profile, analysis->has_runs ? "there is no trainer"
							: "no switches were recorded");
		return TP_OK;
	}
	struct tp_intervals waits = {0};
	collect_waits(&waits, analysis);
	double waits_ns = (double)tp_intervals_sum(&waits);
	double window_ns = (double)(profile->window_end_ns - profile->window_start_ns);
	if (waits_ns <= 0 || waits_ns < TP_CPU_WAIT_MIN * window_ns) {
		set_missing(profile, "the trainer hardly waits for a CPU");
		free(waits.items);
		return TP_OK;
	}
	double loaders_ns = 0;
	double others_ns = 0;
	for (uint32_t task = 0; task < analysis->trace->n_tasks; task++) {
		if (task == analysis->main_task)
			continue;
		double ns = (double)on_cpu_ns_in(&analysis->timelines[task], &waits);
		if (analysis->threads[task].role == TP_THREAD_LOADER)
			loaders_ns += ns;
		else
			others_ns += ns;
	}
	free(waits.items);
	tp_profile_set(profile, TP_FACT_CPU_WAIT_LOADERS, loaders_ns / waits_ns, TP_ORIGIN_MEASURED,
		       1);
	tp_profile_set(profile, TP_FACT_CPU_WAIT_OTHERS, others_ns / waits_ns, TP_ORIGIN_MEASURED,
		       1);
	return TP_OK;
}
