/* SPDX-License-Identifier: Apache-2.0 */
/* Finds functions whose own samples are mostly at the end of page faults. */
#include "first_touch.h"

#include "analyze/thresholds.h"

#include "trainprof/base/map.h"

/* Returns the innermost function outside the kernel; 0 if it is not known. */
static uint64_t function_of(const struct tp_trace *trace, uint32_t stack_id)
{
	const struct tp_stack *stack = tp_trace_stack(trace, stack_id);
	for (uint32_t i = 0; i < stack->n_frames; i++) {
		const struct tp_frame *frame = &trace->frames[stack->frames[i]];
		if (frame->kind == TP_FRAME_KERNEL)
			continue;
		return frame->function_start ? tp_hash_mix(frame->module, frame->function_start)
					     : 0;
	}
	return 0;
}

static void add(struct tp_map *times, uint64_t function, uint64_t length_ns)
{
	uint64_t sum_ns = 0;
	(void)tp_map_get(times, function, &sum_ns);
	tp_map_set(times, function, sum_ns + length_ns);
}

static bool is_first_touch(const struct tp_map *faults, const struct tp_map *own, uint64_t function)
{
	uint64_t faults_ns = 0;
	uint64_t own_ns = 0;
	(void)tp_map_get(own, function, &own_ns);
	return tp_map_get(faults, function, &faults_ns) && faults_ns >= TP_TOUCH_FAULTS_NS &&
	       (double)faults_ns >= TP_TOUCH_FAULTS_MIN * (double)(faults_ns + own_ns);
}

void tp_first_touch_mark(struct tp_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	const struct tp_timeline *timeline = tp_analysis_timeline(analysis, analysis->main_task);
	struct tp_map faults = {0}; /* ns by function */
	struct tp_map own = {0};
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *piece = &timeline->segments[i];
		if (piece->state != TP_STATE_ON_CPU || piece->sample == TP_NO_SAMPLE)
			continue;
		uint32_t stack = trace->samples[piece->sample].stack;
		enum tp_leaf leaf = analysis->classes[stack].leaf;
		if (leaf == TP_LEAF_FAULT || leaf == TP_LEAF_NONE)
			add(leaf == TP_LEAF_FAULT ? &faults : &own, function_of(trace, stack),
			    piece->end_ns - piece->start_ns);
	}
	for (uint32_t stack = 1; faults.n && stack < trace->n_stacks; stack++) {
		struct tp_stack_class *class = &analysis->classes[stack];
		uint64_t function = class->leaf == TP_LEAF_NONE ? function_of(trace, stack) : 0;
		if (function && is_first_touch(&faults, &own, function))
			class->leaf = TP_LEAF_FAULT;
	}
	tp_map_release(&faults);
	tp_map_release(&own);
}
