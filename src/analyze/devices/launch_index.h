/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of a rank by the link that they share with what they launched. A link may come again:
 * numbers wrap around, and a profiler that was started anew counts from the beginning. Then the
 * call that began last before the work did is meant.
 */
#ifndef TRAINPROF_SRC_ANALYZE_DEVICES_LAUNCH_INDEX_H
#define TRAINPROF_SRC_ANALYZE_DEVICES_LAUNCH_INDEX_H

#include "trainprof/base/map.h"
#include "trainprof/model/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_launch_repeat;

/* Zero-initialised is empty and valid; borrows the trace's spans. */
struct tp_launch_index {
	const struct tp_trace *trace;
	struct tp_map places;             /* by link */
	struct tp_launch_repeat *repeats; /* of links with several calls; by link and start; heap */
	size_t n_repeats;
	size_t capacity;
};

/* Index the calls on these tracks. */
void tp_launch_index_build(struct tp_launch_index *index, const struct tp_trace *trace,
			   const uint32_t *tracks, size_t n_tracks);
void tp_launch_index_release(struct tp_launch_index *index);

/* The call that launched what began at a time, and its track; where all calls with this link came
 * later (clocks of device and host differ by microseconds), the first. NULL: none has the link. */
const struct tp_span *tp_launch_index_find(const struct tp_launch_index *index, uint32_t link,
					   uint64_t start_ns, uint32_t *track);

#endif
