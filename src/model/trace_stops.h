/* SPDX-License-Identifier: Apache-2.0 */
/* Removes from a trace the time in which the program or trainprof was stopped. */
#ifndef TRAINPROF_SRC_MODEL_TRACE_STOPS_H
#define TRAINPROF_SRC_MODEL_TRACE_STOPS_H

#include "trainprof/model/trace.h"

/* `trace` is sorted and indexed, and its end is known. Gaps of TP_STOP_SOURCE become stops. Stops
 * of everything, and of processes that do much of the program's work, are left out: all later times
 * move forward by their length, including the run's end. */
void tp_trace_stops_leave_out(struct tp_trace *trace);

#endif
