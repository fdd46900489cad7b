/* SPDX-License-Identifier: Apache-2.0 */
/* How much counters grew inside the judged window, and why one says nothing. */
#ifndef TRAINPROF_SRC_ANALYZE_FACTS_WINDOW_GAUGES_H
#define TRAINPROF_SRC_ANALYZE_FACTS_WINDOW_GAUGES_H

#include "analyze/analysis.h"

/* Length of the window; 0 when there is none. */
double tp_window_gauges_length_s(const struct tp_analysis *analysis);

/* Growth of a counter in the window. false, and *out = 0, where it was not read twice. */
bool tp_window_gauges_host(const struct tp_analysis *analysis, enum tp_metric metric, double *out);
bool tp_window_gauges_task(const struct tp_analysis *analysis, enum tp_metric metric, uint32_t task,
			   double *out);
/* Summed over all processes that have readings; false when none has. */
bool tp_window_gauges_program(const struct tp_analysis *analysis, enum tp_metric metric,
			      double *out);

/* The fact is the counter's growth per second of the window, or missing because `why`. */
void tp_window_gauges_set_rate(struct tp_analysis *analysis, tp_fact_id fact, bool is_known,
			       double growth, const char *why);

/* What a source says about its own absence, else `otherwise`. Borrowed. */
const char *tp_window_gauges_reason(const struct tp_analysis *analysis, const char *source,
				    const char *otherwise);

/* Time of a thread in a state inside the window. */
uint64_t tp_window_gauges_state_ns(const struct tp_analysis *analysis, uint32_t task,
				   enum tp_state state);
/* CPU time of all processes inside the window: by the kernel's account, which knows threads that
 * ended, else by timelines. */
double tp_window_gauges_program_cpu_ns(const struct tp_analysis *analysis);

#endif
