/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time of threads by function: distinguishes a rank from a loader where names do not. */
#ifndef TRAINPROF_SRC_ANALYZE_ROLES_FUNCTION_TIME_H
#define TRAINPROF_SRC_ANALYZE_ROLES_FUNCTION_TIME_H

#include "analyze/analysis.h"

#include "trainprof/base/map.h"

/* CPU time by function. Counts only computing and decoding, since all threads read, copy and take
 * locks. A zero-initialised struct is empty. */
struct tp_function_time {
	struct tp_map ns;
	uint64_t total_ns;
};

/* Returns true if a stack of this class counts, and the function in which it works. */
bool tp_function_time_is_work(const struct tp_stack_class *class);

void tp_function_time_add(struct tp_function_time *doings, const struct tp_analysis *analysis,
			  uint32_t task);
void tp_function_time_release(struct tp_function_time *doings);

/* Returns how much the two distributions over functions overlap: 0 = nothing in common, 1 =
 * equal. */
double tp_function_time_overlap(const struct tp_function_time *a, const struct tp_function_time *b);

#endif
