/* SPDX-License-Identifier: Apache-2.0 */
/* Index of a rank's calls by the link id that they share with the work they launched. A link id may
 * repeat: numbers wrap around, and a restarted profiler counts from the beginning. Then the last
 * call that began before the work is used. */
#ifndef TRAINPROF_MODEL_LAUNCH_INDEX_H
#define TRAINPROF_MODEL_LAUNCH_INDEX_H

#include "trainprof/base/map.h"
#include "trainprof/model/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_launch_repeat;

/* All zero = empty and valid; borrows the trace's spans. */
struct tp_launch_index {
	const struct tp_trace *trace;
	struct tp_map places;             /* by link */
	struct tp_launch_repeat *repeats; /* calls whose link repeats, by link and start; heap */
	size_t n_repeats;
	size_t capacity;
};

/* Indexes the calls on these tracks. */
void tp_launch_index_build(struct tp_launch_index *index, const struct tp_trace *trace,
			   const uint32_t *tracks, size_t n_tracks);
void tp_launch_index_release(struct tp_launch_index *index);

/* Returns the call that launched the work that began at `start_ns`, and its track; if all calls
 * with this link are later (clocks of device and host differ by microseconds), the first. NULL if
 * none has the link. */
const struct tp_span *tp_launch_index_find(const struct tp_launch_index *index, uint32_t link,
					   uint64_t start_ns, uint32_t *track);

#endif
