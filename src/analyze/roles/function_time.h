/* Which functions threads work in: what tells a rank from a loader where no name does. */
#ifndef TRAINPROF_SRC_ANALYZE_ROLES_FUNCTION_TIME_H
#define TRAINPROF_SRC_ANALYZE_ROLES_FUNCTION_TIME_H

#include "analyze/analysis.h"

#include "trainprof/base/map.h"

/* Zero-initialised is empty. CPU time by function: computing and decoding only, since everybody
 * reads, copies and takes locks. */
struct tp_doings {
	struct tp_map ns;
	uint64_t total_ns;
};

/* Whether a stack of this class counts, and in which function it works. */
bool tp_doings_is_work(const struct tp_stack_class *class);

void tp_doings_add(struct tp_doings *doings, const struct tp_analysis *analysis, uint32_t task);
void tp_doings_release(struct tp_doings *doings);

/* Part of the time that both divide alike among the same functions: 0 strangers, 1 twins. */
double tp_doings_overlap(const struct tp_doings *a, const struct tp_doings *b);

#endif
