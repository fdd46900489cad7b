/* SPDX-License-Identifier: Apache-2.0 */
/* Steps from the calls of a function of a native program: the collector found that it is called
 * once per step, and a breakpoint recorded the time of each call (TP_MARK_CALL). The analysis uses
 * the calls only if they are as regular as the rounds of a counter have to be. */
#ifndef TRAINPROF_SRC_ANALYZE_COUNTERS_CALL_STEPS_H
#define TRAINPROF_SRC_ANALYZE_COUNTERS_CALL_STEPS_H

#include "analyze/analysis.h"
#include "counter_steps.h"

/* Finds the steps of the main thread. out->name is the function. The first out->n_inferred borders
 * are estimates of calls before the breakpoint was set, all others are exact. Returns false
 * and sets nothing if no function is called regularly. Release with tp_counter_steps_release(). */
bool tp_call_steps_find(struct tp_counter_steps *out, const struct tp_analysis *analysis);

#endif
