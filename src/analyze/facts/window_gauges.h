/* SPDX-License-Identifier: Apache-2.0 */
/* Growth of counters inside the judged window, and reasons for missing ones. */
#ifndef TRAINPROF_SRC_ANALYZE_FACTS_WINDOW_GAUGES_H
#define TRAINPROF_SRC_ANALYZE_FACTS_WINDOW_GAUGES_H

#include "analyze/analysis.h"

/* Length of the window; 0 = there is none. */
double tp_window_gauges_length_s(const struct tp_analysis *analysis);

/* Growth of a counter in the window. Returns false, with *out = 0, if it was not read twice. */
bool tp_window_gauges_host(const struct tp_analysis *analysis, enum tp_metric metric, double *out);
bool tp_window_gauges_task(const struct tp_analysis *analysis, enum tp_metric metric, uint32_t task,
			   double *out);
/* Sum over all processes that have readings; false if none has. */
bool tp_window_gauges_program(const struct tp_analysis *analysis, enum tp_metric metric,
			      double *out);

/* Sets the fact to the counter's growth per second of the window, or to missing because of
 * `why`. */
void tp_window_gauges_set_rate(struct tp_analysis *analysis, tp_fact_id fact, bool is_known,
			       double growth, const char *why);

/* Returns the source's own reason for its absence, else `otherwise`. Borrowed. */
const char *tp_window_gauges_reason(const struct tp_analysis *analysis, const char *source,
				    const char *otherwise);

/* Time of a thread in a state inside the window. */
uint64_t tp_window_gauges_state_ns(const struct tp_analysis *analysis, uint32_t task,
				   enum tp_state state);
/* CPU time of all processes inside the window: by the kernel's accounting, which includes threads
 * that ended, else by timelines. */
double tp_window_gauges_program_cpu_ns(const struct tp_analysis *analysis);

#endif
