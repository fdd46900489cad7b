/* SPDX-License-Identifier: Apache-2.0 */
/* Emits the loop counters of a program as marks. */
#ifndef TRAINPROF_SRC_COLLECT_CALLSTACK_LOOP_COUNTER_H
#define TRAINPROF_SRC_COLLECT_CALLSTACK_LOOP_COUNTER_H

#include "python_processes.h"

#include "trainprof/model/sink.h"

/* Emits a TP_MARK_COUNTER, at the time of the call, for each counter that has changed on the stack
 * that tp_python_processes_read() has just returned for this thread. Only for the thread that may
 * run the training loop. is_sample: the thread was found on a CPU, not waiting. */
void tp_loop_counter_emit(struct tp_sink *sink, struct tp_python_processes *pythons,
			  const struct tp_task_tree_task *task, bool is_sample);

#endif
