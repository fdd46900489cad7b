/* SPDX-License-Identifier: Apache-2.0 */
#include "step_list.h"

#include "analyze/numeric/stats.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>

void tp_step_list_add(struct tp_step_list *list, uint64_t start_ns, uint64_t end_ns)
{
	if (end_ns <= start_ns)
		return;
	TP_ARRAY_PUSH(list->items, list->n, list->capacity) =
		(struct tp_step){.start_ns = start_ns, .end_ns = end_ns, .kind = TP_STEP_STEADY};
}

double tp_step_list_median_ns(const struct tp_step_list *list)
{
	double *lengths = tp_alloc((list->n + 1) * sizeof(*lengths));
	for (size_t i = 0; i < list->n; i++)
		lengths[i] = (double)(list->items[i].end_ns - list->items[i].start_ns);
	double median = tp_stats_median(lengths, list->n);
	free(lengths);
	return median;
}

void tp_step_list_store(struct tp_analysis *analysis, const struct tp_step_list *list)
{
	struct tp_profile *profile = analysis->profile;
	profile->steps =
		tp_arena_copy(analysis->arena, list->items, list->n * sizeof(*list->items));
	profile->n_steps = list->n;
}
