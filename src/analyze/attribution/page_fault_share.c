/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page-fault time by counting: faults of the thread times the calibrated price of one, at most its
 * kernel time. Only needed without kernel samples (perf_event_paranoid 2 and no privilege): there
 * the interrupts that hit the kernel are dropped, and the time would look like user code.
 */
#include "page_fault_share.h"

#include "trainprof/base/clock.h"

static bool kernel_was_sampled(const struct tp_trace *trace)
{
	for (size_t i = 0; i < trace->n_samples; i++)
		if (trace->samples[i].flags & TP_SAMPLE_KERNEL)
			return true;
	return false;
}

void tp_page_fault_share_build(struct tp_page_fault_share *out, const struct tp_analysis *analysis,
			       uint32_t task)
{
	const struct tp_trace *trace = analysis->trace;
	*out = (struct tp_page_fault_share){0};
	size_t n_cost;
	const struct tp_gauge *cost =
		tp_trace_gauges(trace, TP_METRIC_SELF_FAULT_COST, TP_NO_TASK, &n_cost);
	if (!n_cost || cost->value <= 0 || kernel_was_sampled(trace))
		return;
	size_t n = (size_t)(trace->end_ns / TP_NS_PER_S) + 1;
	out->ratio = tp_arena_array(analysis->arena, n, sizeof(*out->ratio));
	out->n = n;
	for (size_t i = 0; i < n; i++) {
		uint64_t from = i * TP_NS_PER_S;
		uint64_t to = from + TP_NS_PER_S;
		double faults = 0;
		double kernel = 0;
		double user = 0;
		if (!tp_trace_counter_delta(trace, TP_METRIC_TASK_MINFLT, task, from, to,
					    &faults) ||
		    !tp_trace_counter_delta(trace, TP_METRIC_TASK_STIME, task, from, to, &kernel) ||
		    !tp_trace_counter_delta(trace, TP_METRIC_TASK_UTIME, task, from, to, &user))
			continue;
		double ns = faults * cost->value;
		if (ns > kernel)
			ns = kernel;
		if (kernel + user > 0)
			out->ratio[i] = ns / (kernel + user);
	}
}

double tp_page_fault_share_at(const struct tp_page_fault_share *share, uint64_t time_ns)
{
	size_t i = (size_t)(time_ns / TP_NS_PER_S);
	return i < share->n ? share->ratio[i] : 0;
}
