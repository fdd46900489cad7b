/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the time out of a trace in which the program or trainprof was stopped. */
#ifndef TRAINPROF_SRC_MODEL_TRACE_STOPS_H
#define TRAINPROF_SRC_MODEL_TRACE_STOPS_H

#include "trainprof/model/trace.h"

/*
 * `trace` is sorted and indexed, and its end is known. Gaps of TP_STOP_SOURCE become stops. Those
 * of processes that do much of the program's work, and those of everything, are left out: all times
 * after them move forward by their length, the run's end as well.
 */
void tp_trace_stops_leave_out(struct tp_trace *trace);

#endif
