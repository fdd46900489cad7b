/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates page-fault time from counts: page faults of the thread times the calibrated cost of
 * one, at most its kernel time. Only needed without kernel samples (perf_event_paranoid 2 without
 * privilege): there interrupts that hit the kernel are dropped, and the time would look like user
 * code. */
#include "page_fault_share.h"

#include "trainprof/base/search.h"

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
	size_t n;
	const struct tp_gauge *readings = tp_trace_gauges(trace, TP_METRIC_TASK_MINFLT, task, &n);
	if (n < 2)
		return;
	out->readings = readings;
	out->ratio = tp_arena_array(analysis->arena, n - 1, sizeof(*out->ratio));
	out->n = n - 1;
	for (size_t i = 0; i + 1 < n; i++) {
		uint64_t from = readings[i].time_ns;
		uint64_t to = readings[i + 1].time_ns;
		double kernel = 0;
		double user = 0;
		if (!tp_trace_counter_delta(trace, TP_METRIC_TASK_STIME, task, from, to, &kernel) ||
		    !tp_trace_counter_delta(trace, TP_METRIC_TASK_UTIME, task, from, to, &user))
			continue;
		double ns = (readings[i + 1].value - readings[i].value) * cost->value;
		if (ns > kernel)
			ns = kernel;
		if (ns > 0 && kernel + user > 0)
			out->ratio[i] = ns / (kernel + user);
	}
}

double tp_page_fault_share_at(const struct tp_page_fault_share *share, uint64_t time_ns)
{
	if (!share->n || time_ns < share->readings[0].time_ns ||
	    time_ns >= share->readings[share->n].time_ns)
		return 0;
	size_t next;
	TP_FIND_FIRST(next, 1, share->n, share->readings[next].time_ns > time_ns);
	return share->ratio[next - 1];
}
