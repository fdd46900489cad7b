/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the windows of hardware counters and their effect on the steps. */
#include "counter_windows.h"

#include "analyze/numeric/intervals.h"
#include "analyze/thresholds.h"

#include "trainprof/model/fact.h"

#include <stdio.h>
#include <stdlib.h>

static void add_of_track(struct tp_intervals *out, const struct tp_trace *trace, uint32_t track)
{
	size_t n;
	const struct tp_gauge *turns = tp_trace_gauges(trace, TP_METRIC_GPU_PM_OPEN, track, &n);
	for (size_t i = 0; i < n; i++) {
		uint64_t end_ns = i + 1 < n ? turns[i + 1].time_ns : trace->end_ns;
		if (turns[i].value > 0 && end_ns > turns[i].time_ns)
			tp_intervals_add(out, turns[i].time_ns, end_ns);
	}
}

/* Lists them ascending and disjoint, over all GPUs; the caller frees items. */
static void find_windows(struct tp_intervals *out, const struct tp_trace *trace)
{
	*out = (struct tp_intervals){0};
	for (uint32_t i = 0; i < trace->n_tracks; i++)
		if (trace->tracks[i].number == TP_TRACK_WHOLE)
			add_of_track(out, trace, i);
	tp_intervals_merge(out);
}

void tp_counter_windows_exclude(struct tp_analysis *analysis)
{
	struct tp_profile *profile = analysis->profile;
	struct tp_intervals windows;
	size_t n_steady = 0;
	size_t n_touched = 0;
	find_windows(&windows, analysis->trace);
	for (int is_second = 0; windows.n && is_second <= 1; is_second++) {
		if (is_second && n_touched * 2 > n_steady)
			break;
		for (size_t i = 0; i < profile->n_steps; i++) {
			struct tp_step *step = &profile->steps[i];
			if (step->kind != TP_STEP_STEADY)
				continue;
			bool touches =
				tp_intervals_covered(&windows, step->start_ns, step->end_ns) > 0;
			n_steady += !is_second;
			n_touched += !is_second && touches;
			if (is_second && touches)
				step->kind = TP_STEP_COUNTED;
		}
	}
	free(windows.items);
}

/* Mean length of the steps of a kind between the first and the last steady one; 0 = too few. */
static double mean_of(const struct tp_profile *profile, enum tp_step_kind kind)
{
	double sum_ns = 0;
	size_t n = 0;
	for (size_t i = 0; i < profile->n_steps; i++) {
		const struct tp_step *step = &profile->steps[i];
		if (step->kind != kind || step->start_ns < profile->window_start_ns ||
		    step->end_ns > profile->window_end_ns)
			continue;
		sum_ns += (double)(step->end_ns - step->start_ns);
		n++;
	}
	return n >= TP_COUNTER_STEPS_MIN ? sum_ns / (double)n : 0;
}

/* Warns that the counters changed what they measure. */
static void warn(struct tp_profile *profile, double ratio)
{
	char text[120];
	size_t n = 0;
	for (size_t i = 0; i < profile->n_steps; i++)
		n += profile->steps[i].kind == TP_STEP_COUNTED;
	snprintf(text, sizeof(text),
		 "hardware counters locked the clocks of GPUs for %.0f %% of the judged time",
		 100 * ratio);
	tp_profile_warn(profile, "gpu-counters", text,
			n ? "steps in these windows are marked as counted and not judged"
			  : "what ran in these windows is judged with the rest",
			NULL);
}

void tp_counter_windows_set_facts(struct tp_analysis *analysis, const char *why)
{
	struct tp_profile *profile = analysis->profile;
	struct tp_intervals windows;
	uint64_t window_ns = profile->window_end_ns - profile->window_start_ns;
	find_windows(&windows, analysis->trace);
	uint64_t counted_ns =
		tp_intervals_covered(&windows, profile->window_start_ns, profile->window_end_ns);
	free(windows.items);
	if (!counted_ns || !window_ns) {
		tp_profile_set_missing(profile, TP_FACT_GPU_COUNTED, why);
		tp_profile_set_missing(profile, TP_FACT_GPU_COUNTED_STEP, why);
		return;
	}
	double ratio = (double)counted_ns / (double)window_ns;
	tp_profile_set(profile, TP_FACT_GPU_COUNTED, ratio, TP_ORIGIN_MEASURED, 1);
	warn(profile, ratio);
	double inside_ns = mean_of(profile, TP_STEP_COUNTED);
	double outside_ns = mean_of(profile, TP_STEP_STEADY);
	if (inside_ns > 0 && outside_ns > 0)
		tp_profile_set(profile, TP_FACT_GPU_COUNTED_STEP, inside_ns / outside_ns - 1,
			       TP_ORIGIN_MEASURED, 1);
	else
		tp_profile_set_missing(profile, TP_FACT_GPU_COUNTED_STEP,
				       "too few steps inside or outside the windows of counters");
}
