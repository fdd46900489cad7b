/* SPDX-License-Identifier: Apache-2.0 */
/* Finds strings, stacks and gauge readings in a trace, and computes the growth of a counter. */
#include "trainprof/model/trace.h"

#include "trainprof/base/search.h"

/* Readings are sorted by metric, task and time. */
static bool is_before(const struct tp_gauge *gauge, enum tp_metric metric, uint32_t task)
{
	return gauge->metric != metric ? gauge->metric < metric : gauge->task < task;
}

const struct tp_gauge *tp_trace_gauges(const struct tp_trace *trace, enum tp_metric metric,
				       uint32_t task, size_t *n)
{
	size_t at;
	TP_FIND_FIRST(at, 0, trace->n_gauges, !is_before(&trace->gauges[at], metric, task));
	*n = 0;
	while (at + *n < trace->n_gauges && trace->gauges[at + *n].metric == metric &&
	       trace->gauges[at + *n].task == task)
		(*n)++;
	return trace->gauges + at;
}

/* Interpolates the counter linearly between the readings before and after the time; constant
 * outside of them. */
static double counter_at(const struct tp_gauge *readings, size_t n, uint64_t time_ns)
{
	if (time_ns <= readings[0].time_ns)
		return readings[0].value;
	if (time_ns > readings[n - 1].time_ns)
		return readings[n - 1].value;
	size_t next;
	TP_FIND_FIRST(next, 1, n - 1, readings[next].time_ns >= time_ns);
	const struct tp_gauge *a = &readings[next - 1];
	const struct tp_gauge *b = &readings[next];
	double part = (double)(time_ns - a->time_ns) / (double)(b->time_ns - a->time_ns);
	return a->value + (b->value - a->value) * part;
}

bool tp_trace_counter_delta(const struct tp_trace *trace, enum tp_metric metric, uint32_t task,
			    uint64_t from_ns, uint64_t to_ns, double *out)
{
	size_t n;
	const struct tp_gauge *readings = tp_trace_gauges(trace, metric, task, &n);
	if (n < 2 || to_ns <= from_ns)
		return false;
	double growth = counter_at(readings, n, to_ns) - counter_at(readings, n, from_ns);
	*out = growth > 0 ? growth : 0;
	return true;
}

const char *tp_trace_string(const struct tp_trace *trace, uint32_t id)
{
	return id < trace->n_strings ? trace->strings[id] : "";
}

const struct tp_stack *tp_trace_stack(const struct tp_trace *trace, uint32_t id)
{
	return &trace->stacks[id < trace->n_stacks ? id : 0];
}
