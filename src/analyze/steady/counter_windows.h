/* SPDX-License-Identifier: Apache-2.0 */
/* The stretches in which hardware counters of GPUs were read: clocks are locked then, so what runs
 * there is not as it is outside. A window that nobody closed ends with the trace. */
#ifndef TRAINPROF_SRC_ANALYZE_STEADY_COUNTER_WINDOWS_H
#define TRAINPROF_SRC_ANALYZE_STEADY_COUNTER_WINDOWS_H

#include "analyze/analysis.h"

/* Steps that touch one become TP_STEP_COUNTED, unless fewer steady ones than half were left: then
 * all stay as they are. */
void tp_counter_windows_exclude(struct tp_analysis *analysis);

/* gpu.counters.time_ratio and gpu.counters.step_change_ratio, of the judged window; missing because
 * `why` where there was no window. */
void tp_counter_windows_set_facts(struct tp_analysis *analysis, const char *why);

#endif
