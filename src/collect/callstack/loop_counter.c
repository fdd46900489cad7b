/* SPDX-License-Identifier: Apache-2.0 */
/* Names counters as "FILE:LINE FUNCTION() #VARIABLE" and puts their values. */
#include "loop_counter.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/clock.h"

#include <stdio.h>

enum { COUNTERS_MAX = 32 }; /* told at a time */

void tp_loop_counter_emit(struct tp_sink *sink, struct tp_python_processes *pythons,
			  const struct tp_task_tree_task *task)
{
	struct tp_python_counter counters[COUNTERS_MAX];
	uint32_t names[COUNTERS_MAX];
	if (task->info.tid != task->info.pid)
		return;
	size_t n = tp_python_processes_count_loops(pythons, task, counters, COUNTERS_MAX);
	uint64_t now_ns = tp_clock_now_ns();
	/* Paths may be long; the variable comes last and must not be cut off. */
	struct tp_buf name = {0};
	for (size_t i = 0; i < n; i++) {
		char number[16];
		snprintf(number, sizeof(number), "#%u", counters[i].local);
		tp_buf_clear(&name);
		tp_buf_printf(&name, "%s:%u %s() %s", counters[i].file, counters[i].first_line,
			      counters[i].name,
			      counters[i].variable ? counters[i].variable : number);
		names[i] = tp_sink_string(sink, tp_buf_text(&name));
		struct tp_mark mark = {.kind = TP_MARK_COUNTER,
				       .task = task->info.id,
				       .time_ns = now_ns,
				       .name = names[i],
				       .value = counters[i].value};
		tp_sink_mark(sink, &mark);
	}
	tp_buf_release(&name);
	tp_python_processes_notify(pythons, task, counters, names, n, now_ns);
}
