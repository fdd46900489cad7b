/* SPDX-License-Identifier: Apache-2.0 */
/* Reads counters and timelines over the judged window. */
#include "window_gauges.h"

#include "trainprof/model/fact_id.h"

#include <string.h>

double tp_window_gauges_length_s(const struct tp_analysis *analysis)
{
	const struct tp_profile *profile = analysis->profile;
	return (double)(profile->window_end_ns - profile->window_start_ns) * 1e-9;
}

bool tp_window_gauges_task(const struct tp_analysis *analysis, enum tp_metric metric, uint32_t task,
			   double *out)
{
	const struct tp_profile *profile = analysis->profile;
	*out = 0;
	return tp_trace_counter_delta(analysis->trace, metric, task, profile->window_start_ns,
				      profile->window_end_ns, out);
}

bool tp_window_gauges_host(const struct tp_analysis *analysis, enum tp_metric metric, double *out)
{
	return tp_window_gauges_task(analysis, metric, TP_NO_TASK, out);
}

bool tp_window_gauges_program(const struct tp_analysis *analysis, enum tp_metric metric,
			      double *out)
{
	bool is_known = false;
	*out = 0;
	for (uint32_t task = 0; task < analysis->trace->n_tasks; task++) {
		double growth;
		if (analysis->threads[task].leader != task ||
		    !tp_window_gauges_task(analysis, metric, task, &growth))
			continue;
		is_known = true;
		*out += growth;
	}
	return is_known;
}

void tp_window_gauges_set_rate(struct tp_analysis *analysis, tp_fact_id fact, bool is_known,
			       double growth, const char *why)
{
	double seconds = tp_window_gauges_length_s(analysis);
	if (is_known && seconds > 0)
		tp_profile_set(analysis->profile, fact, growth / seconds, TP_ORIGIN_MEASURED, 1);
	else
		tp_profile_set_missing(analysis->profile, fact,
				       is_known ? "the window is empty" : why);
}

const char *tp_window_gauges_reason(const struct tp_analysis *analysis, const char *source,
				    const char *otherwise)
{
	const struct tp_trace *trace = analysis->trace;
	for (size_t i = 0; i < trace->n_sources; i++) {
		const struct tp_source *row = &trace->sources[i];
		if (strcmp(tp_trace_string(trace, row->name), source) != 0 ||
		    row->presence == TP_PRESENCE_PRESENT)
			continue;
		return row->reason ? tp_trace_string(trace, row->reason)
				   : tp_source_state_text(row->presence);
	}
	return otherwise;
}

uint64_t tp_window_gauges_state_ns(const struct tp_analysis *analysis, uint32_t task,
				   enum tp_state state)
{
	const struct tp_timeline *timeline = &analysis->timelines[task];
	const struct tp_profile *profile = analysis->profile;
	uint64_t sum = 0;
	for (size_t i = 0; i < timeline->n; i++)
		if (timeline->segments[i].state == state)
			sum += tp_segment_ns_in(&timeline->segments[i], profile->window_start_ns,
						profile->window_end_ns);
	return sum;
}

static double process_cpu_ns(const struct tp_analysis *analysis, uint32_t leader)
{
	double user;
	double system;
	if (tp_window_gauges_task(analysis, TP_METRIC_PROC_UTIME, leader, &user) &&
	    tp_window_gauges_task(analysis, TP_METRIC_PROC_STIME, leader, &system))
		return user + system;
	uint64_t sum = 0;
	for (uint32_t i = leader; i != TP_NO_TASK; i = analysis->threads[i].next)
		sum += tp_window_gauges_state_ns(analysis, i, TP_STATE_ON_CPU);
	return (double)sum;
}

double tp_window_gauges_program_cpu_ns(const struct tp_analysis *analysis)
{
	double sum = 0;
	for (uint32_t task = 0; task < analysis->trace->n_tasks; task++)
		if (analysis->threads[task].leader == task)
			sum += process_cpu_ns(analysis, task);
	return sum;
}
