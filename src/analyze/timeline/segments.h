/* SPDX-License-Identifier: Apache-2.0 */
/* Segments of a timeline under construction. */
#ifndef TRAINPROF_SRC_ANALYZE_TIMELINE_SEGMENTS_H
#define TRAINPROF_SRC_ANALYZE_TIMELINE_SEGMENTS_H

#include "analyze/analysis.h"

#include <stddef.h>
#include <stdint.h>

/* Zero-initialised = empty; items are on the heap. */
struct tp_segments {
	struct tp_segment *items;
	size_t n;
	size_t capacity;
};

/* Adds a segment with the cause of its sample, if it has one. Returns NULL and adds nothing if its
 * length is zero. */
struct tp_segment *tp_segments_add(struct tp_segments *pieces, const struct tp_trace *trace,
				   uint64_t start_ns, uint64_t end_ns, enum tp_state state,
				   uint32_t sample);

#endif
