/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What windows of GPU tracing cost the program, by its steps: those that a window touches against
 * those right before and behind it (untraced, traced, untraced). Whoever slows down between windows
 * as well is no part of it.
 */
#ifndef TRAINPROF_SRC_ANALYZE_DEVICES_TRACE_WINDOW_COST_H
#define TRAINPROF_SRC_ANALYZE_DEVICES_TRACE_WINDOW_COST_H

#include "analyze/analysis.h"

/*
 * Sets windows.count, windows.traced_ratio, windows.slowdown_ratio and windows.cost_ratio; the last
 * two with their 95 % intervals, or why they are not known. Nothing where there are no windows.
 * Needs: steps with their kinds as the trainer's own clock gives them, analysis->ranks with shut.
 */
void tp_trace_window_cost_set(struct tp_analysis *analysis);

#endif
