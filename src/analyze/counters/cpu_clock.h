/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU time of the main thread at any instant, for comparing rounds by the work in them: a busy
 * machine stretches their time. */
#ifndef TRAINPROF_SRC_ANALYZE_COUNTERS_CPU_CLOCK_H
#define TRAINPROF_SRC_ANALYZE_COUNTERS_CPU_CLOCK_H

#include "analyze/analysis.h"

struct tp_cpu_clock {
	const struct tp_run *runs; /* of the main thread */
	size_t n;
	uint64_t *before_ns; /* heap; CPU time before each run */
};

void tp_cpu_clock_init(struct tp_cpu_clock *clock, const struct tp_analysis *analysis);
void tp_cpu_clock_release(struct tp_cpu_clock *clock);
/* Returns the CPU time from the start of recording until then; always 0 if runs were not
 * recorded. */
uint64_t tp_cpu_clock_ns(const struct tp_cpu_clock *clock, uint64_t time_ns);

#endif
