/* SPDX-License-Identifier: Apache-2.0 */
/* Sums CPU time by function and compares two such sums. */
#include "function_time.h"

bool tp_function_time_is_work(const struct tp_stack_class *class)
{
	return class->function && (class->leaf == TP_LEAF_NONE || class->leaf == TP_LEAF_MATH ||
				   class->leaf == TP_LEAF_DECODE);
}

void tp_function_time_add(struct tp_function_time *doings, const struct tp_analysis *analysis,
			  uint32_t task)
{
	const struct tp_timeline *timeline = &analysis->timelines[task];
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		if (segment->state != TP_STATE_ON_CPU || segment->sample == TP_NO_SAMPLE)
			continue;
		const struct tp_stack_class *class =
			&analysis->classes[analysis->trace->samples[segment->sample].stack];
		if (!tp_function_time_is_work(class))
			continue;
		uint64_t length = segment->end_ns - segment->start_ns;
		uint64_t sum = 0;
		(void)tp_map_get(&doings->ns, class->function, &sum);
		tp_map_set(&doings->ns, class->function, sum + length);
		doings->total_ns += length;
	}
}

void tp_function_time_release(struct tp_function_time *doings)
{
	tp_map_release(&doings->ns);
	*doings = (struct tp_function_time){0};
}

double tp_function_time_overlap(const struct tp_function_time *a, const struct tp_function_time *b)
{
	if (!a->total_ns || !b->total_ns)
		return 0;
	double sum = 0;
	size_t cursor = 0;
	uint64_t function;
	uint64_t a_ns;
	while (tp_map_next(&a->ns, &cursor, &function, &a_ns)) {
		uint64_t b_ns = 0;
		(void)tp_map_get(&b->ns, function, &b_ns);
		double of_a = (double)a_ns / (double)a->total_ns;
		double of_b = (double)b_ns / (double)b->total_ns;
		sum += of_a < of_b ? of_a : of_b;
	}
	return sum;
}
