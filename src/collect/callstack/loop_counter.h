/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the counters of a program's loops as marks. */
#ifndef TRAINPROF_SRC_COLLECT_CALLSTACK_LOOP_COUNTER_H
#define TRAINPROF_SRC_COLLECT_CALLSTACK_LOOP_COUNTER_H

#include "python_processes.h"

#include "trainprof/model/sink.h"

/*
 * What has changed among the counters on the stack that tp_python_processes_read() gave just now of
 * this thread: a TP_MARK_COUNTER each, at the time of the call. Only of the first thread of a
 * program: loops of training are there.
 */
void tp_loop_counter_emit(struct tp_sink *sink, struct tp_python_processes *pythons,
			  const struct tp_task_tree_task *task);

#endif
