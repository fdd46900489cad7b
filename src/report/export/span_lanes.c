/* SPDX-License-Identifier: Apache-2.0 */
/* Finds for each span the first lane in which it crosses no end of another span. */
#include "span_lanes.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>

/* Ends of the open spans, outermost first. */
struct open_ends {
	uint64_t *items; /* heap */
	size_t n;
	size_t capacity;
};

static bool fits(struct open_ends *ends, const struct tp_span *span)
{
	while (ends->n && ends->items[ends->n - 1] <= span->start_ns)
		ends->n--;
	return !ends->n || ends->items[ends->n - 1] >= span->end_ns;
}

void tp_span_lanes_build(struct tp_span_lanes *out, const struct tp_span *spans, size_t n)
{
	struct open_ends ends[TP_SPAN_LANES_MAX] = {0};
	*out = (struct tp_span_lanes){.of_span = tp_alloc(n + 1)};
	for (size_t i = 0; i < n; i++) {
		unsigned lane = 0;
		while (lane < TP_SPAN_LANES_MAX && !fits(&ends[lane], &spans[i]))
			lane++;
		out->of_span[i] = (uint8_t)lane;
		if (lane == TP_SPAN_LANES_MAX) {
			out->n_left_out++;
			continue;
		}
		if (lane >= out->n_lanes)
			out->n_lanes = lane + 1;
		TP_ARRAY_PUSH(ends[lane].items, ends[lane].n, ends[lane].capacity) =
			spans[i].end_ns;
	}
	for (unsigned lane = 0; lane < TP_SPAN_LANES_MAX; lane++)
		free(ends[lane].items);
}

void tp_span_lanes_release(struct tp_span_lanes *lanes)
{
	free(lanes->of_span);
	*lanes = (struct tp_span_lanes){0};
}
