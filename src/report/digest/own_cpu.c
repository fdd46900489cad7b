/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the gauges of trainprof's own CPU time. */
#include "trainprof/report/own_cpu.h"

#include "trainprof/base/memory.h"

/* The last row is the rest that no stage covers: waiting for events, waking up, opening and closing
 * sources. */
static const struct {
	enum tp_metric metric;
	const char *id;
	const char *text;
} stages[] = {
	{TP_METRIC_SELF_PYTHON, "python", "reading stacks of Python"},
	{TP_METRIC_SELF_COUNTERS, "counters", "reading counters of loops"},
	{TP_METRIC_SELF_UNWIND, "unwind", "unwinding native stacks, with their tables"},
	{TP_METRIC_SELF_SYMBOLS, "symbols", "naming functions"},
	{TP_METRIC_SELF_RINGS, "rings", "records of perf, of marks and of agents"},
	{TP_METRIC_SELF_OFFCPU, "offcpu", "looking at threads that wait"},
	{TP_METRIC_SELF_PROC, "proc", "accounts in /proc and /sys"},
	{TP_METRIC_SELF_STORE, "store", "writing the recording"},
};

static bool last_value(const struct tp_trace *trace, enum tp_metric metric, double *out)
{
	size_t n;
	const struct tp_gauge *readings = tp_trace_gauges(trace, metric, TP_NO_TASK, &n);
	*out = n > 0 ? readings[n - 1].value : 0;
	return n > 0;
}

static void add(struct tp_own_cpu *out, const char *id, const char *text, double cpu_ns)
{
	out->rows[out->n++] = (struct tp_own_cpu_row){id, text, cpu_ns};
}

bool tp_own_cpu_read(struct tp_own_cpu *out, const struct tp_trace *trace)
{
	size_t n;
	const struct tp_gauge *own = tp_trace_gauges(trace, TP_METRIC_SELF_CPU, TP_NO_TASK, &n);
	double value;
	*out = (struct tp_own_cpu){0};
	if (n == 0 || !last_value(trace, stages[0].metric, &value))
		return false;
	out->cpu_ns = own[n - 1].value;
	double rest_ns = out->cpu_ns - own[0].value;
	add(out, "start", "starting, before the program runs", own[0].value);
	for (size_t i = 0; i < TP_ARRAY_LEN(stages); i++) {
		(void)last_value(trace, stages[i].metric, &value);
		add(out, stages[i].id, stages[i].text, value);
		rest_ns -= value;
	}
	add(out, "rest", "waking up, and the rest", rest_ns > 0 ? rest_ns : 0);
	return true;
}
