/* SPDX-License-Identifier: Apache-2.0 */
/* Which functions threads work in: what tells a rank from a loader where no name does. */
#ifndef TRAINPROF_SRC_ANALYZE_ROLES_FUNCTION_TIME_H
#define TRAINPROF_SRC_ANALYZE_ROLES_FUNCTION_TIME_H

#include "analyze/analysis.h"

#include "trainprof/base/map.h"

/* Zero-initialised is empty. CPU time by function: computing and decoding only, since everybody
 * reads, copies and takes locks. */
struct tp_function_time {
	struct tp_map ns;
	uint64_t total_ns;
};

/* Whether a stack of this class counts, and in which function it works. */
bool tp_function_time_is_work(const struct tp_stack_class *class);

void tp_function_time_add(struct tp_function_time *doings, const struct tp_analysis *analysis,
			  uint32_t task);
void tp_function_time_release(struct tp_function_time *doings);

/* Part of the time that both divide alike among the same functions: 0 strangers, 1 twins. */
double tp_function_time_overlap(const struct tp_function_time *a, const struct tp_function_time *b);

#endif
