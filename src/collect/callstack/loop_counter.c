/* SPDX-License-Identifier: Apache-2.0 */
/* Names counters as "FILE:LINE FUNCTION() #VARIABLE" and emits their values. */
#include "loop_counter.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/clock.h"

#include <stdio.h>

enum { COUNTERS_MAX = 32 }; /* maximum per call */

/* "FILE:LINE FUNCTION() #VARIABLE"; for a setting the name of its fact. */
static uint32_t name_of(struct tp_sink *sink, const struct tp_python_counter *counter,
			struct tp_buf *text)
{
	char number[16];
	if (counter->kind == TP_PYTHON_COUNTER_SETTING)
		return tp_sink_string(sink, counter->variable);
	snprintf(number, sizeof(number), "#%u", counter->local);
	tp_buf_clear(text);
	/* Paths may be long; the variable comes last and must not be cut off. */
	tp_buf_printf(text, "%s:%u %s() %s", counter->file, counter->first_line, counter->name,
		      counter->variable ? counter->variable : number);
	return tp_sink_string(sink, tp_buf_text(text));
}

static enum tp_mark_kind mark_kind(enum tp_python_counter_kind kind)
{
	return kind == TP_PYTHON_COUNTER_SETTING    ? TP_MARK_SETTING
	       : kind == TP_PYTHON_COUNTER_LOOP_END ? TP_MARK_LOOP_END
						    : TP_MARK_COUNTER;
}

void tp_loop_counter_emit(struct tp_sink *sink, struct tp_python_processes *pythons,
			  const struct tp_task_tree_task *task, bool is_sample)
{
	struct tp_python_counter counters[COUNTERS_MAX];
	uint32_t names[COUNTERS_MAX];
	if (!tp_python_processes_is_counting(pythons, task, is_sample))
		return;
	size_t n = tp_python_processes_count_loops(pythons, task, counters, COUNTERS_MAX);
	uint64_t now_ns = tp_clock_now_ns();
	struct tp_buf text = {0};
	for (size_t i = 0; i < n; i++) {
		names[i] = name_of(sink, &counters[i], &text);
		struct tp_mark mark = {.kind = mark_kind(counters[i].kind),
				       .task = task->info.id,
				       .time_ns = now_ns,
				       .name = names[i],
				       .value = counters[i].value};
		tp_sink_mark(sink, &mark);
		if (counters[i].total == 0)
			continue;
		mark.kind = TP_MARK_TOTAL;
		mark.value = counters[i].total;
		tp_sink_mark(sink, &mark);
	}
	tp_buf_release(&text);
	tp_python_processes_notify(pythons, task, counters, names, n, now_ns);
}
