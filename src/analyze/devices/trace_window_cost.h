/* SPDX-License-Identifier: Apache-2.0 */
/* Cost of windows of GPU tracing for the program, from its steps: steps that a window affects
 * against those directly before and after it (untraced, traced, untraced). A slowdown that
 * continues between windows is not counted. */
#ifndef TRAINPROF_SRC_ANALYZE_DEVICES_TRACE_WINDOW_COST_H
#define TRAINPROF_SRC_ANALYZE_DEVICES_TRACE_WINDOW_COST_H

#include "analyze/analysis.h"

/* Sets windows.count, windows.traced_ratio, windows.slowdown_ratio and windows.cost_ratio; the last
 * two with their 95 % intervals, or with the reason why they are unknown. Does nothing without
 * windows. Needs: steps with their kinds on the trainer's own clock, analysis->ranks with shut. */
void tp_trace_window_cost_set(struct tp_analysis *analysis);

#endif
