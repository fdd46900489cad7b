/* SPDX-License-Identifier: Apache-2.0 */
/* Windows in which hardware counters of GPUs were read: the clocks are locked then, so work in them
 * differs from work outside. A window without an end lasts to the end of the trace. */
#ifndef TRAINPROF_SRC_ANALYZE_STEADY_COUNTER_WINDOWS_H
#define TRAINPROF_SRC_ANALYZE_STEADY_COUNTER_WINDOWS_H

#include "analyze/analysis.h"

/* Steady steps that overlap a window become TP_STEP_COUNTED, unless fewer than half of them would
 * remain: then all stay steady. */
void tp_counter_windows_exclude(struct tp_analysis *analysis);

/* Sets gpu.counters.time_ratio and gpu.counters.step_change_ratio for the judged window; missing
 * because of `why` if there was no window. */
void tp_counter_windows_set_facts(struct tp_analysis *analysis, const char *why);

#endif
