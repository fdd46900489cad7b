/* SPDX-License-Identifier: Apache-2.0 */
/* The states of a thread from its start to its end, in order of time. */
#ifndef TRAINPROF_MODEL_TIMELINE_H
#define TRAINPROF_MODEL_TIMELINE_H

#include "trainprof/model/part.h"
#include "trainprof/model/task.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One segment of a thread's timeline: [start, end) with one state. The segments of a thread are in
 * order and do not overlap; together they cover its life inside the run. */
struct tp_segment {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t sample; /* index into trace->samples of the sample that represents it; TP_NO_SAMPLE
			  */
	enum tp_state state : 8;
	enum tp_cause cause : 8; /* when blocked */
	enum tp_label label : 8; /* main thread only; TP_N_LABELS before the foreground pass */
	bool is_inferred : 1;    /* the sample was taken in another, similar segment */
	bool is_sampled : 1; /* its borders are times of two inspections, not of the state itself */
	bool is_of_device : 1; /* in beside_devices: the label describes a device, not the thread */
};

/* A recording of ten minutes and 500 threads has two million of them. */
_Static_assert(sizeof(struct tp_segment) == 24, "segments are small");
_Static_assert(TP_N_LABELS < 256 && TP_N_CAUSES <= 256, "enumerators fit");

#define TP_NO_SAMPLE UINT32_MAX

/* The length of the part of the segment that lies in [from, to). */
static inline uint64_t tp_segment_ns_in(const struct tp_segment *segment, uint64_t from_ns,
					uint64_t to_ns)
{
	uint64_t start = segment->start_ns > from_ns ? segment->start_ns : from_ns;
	uint64_t end = segment->end_ns < to_ns ? segment->end_ns : to_ns;
	return end > start ? end - start : 0;
}

struct tp_timeline {
	struct tp_segment *segments;
	size_t n;
};

#endif
