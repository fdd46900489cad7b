/* SPDX-License-Identifier: Apache-2.0 */
/* Adds segments to a timeline. */
#include "segments.h"

#include "trainprof/base/memory.h"

struct tp_segment *tp_segments_add(struct tp_segments *pieces, const struct tp_trace *trace,
				   uint64_t start_ns, uint64_t end_ns, enum tp_state state,
				   uint32_t sample)
{
	if (end_ns <= start_ns)
		return NULL;
	struct tp_segment segment = {.start_ns = start_ns,
				     .end_ns = end_ns,
				     .state = state,
				     .sample = sample,
				     .label = TP_N_LABELS};
	if (sample != TP_NO_SAMPLE)
		segment.cause = trace->samples[sample].cause;
	TP_ARRAY_PUSH(pieces->items, pieces->n, pieces->capacity) = segment;
	return &pieces->items[pieces->n - 1];
}
