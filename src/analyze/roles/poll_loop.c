/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises polling loops: they sleep, check a condition, and sleep again. A check takes
 * microseconds; a thread that sleeps between pieces of work, however short, works for longer than
 * that. */
#include "poll_loop.h"

#include "analyze/thresholds.h"

#include "trainprof/base/search.h"

static bool is_sleep(const struct tp_segment *segment)
{
	return segment->state == TP_STATE_BLOCKED && segment->cause == TP_CAUSE_SLEEP;
}

/* Returns true if the next wait in that direction is also a sleep, with only a short check
 * between. */
static bool has_adjacent(const struct tp_timeline *timeline, size_t at, bool is_after)
{
	uint64_t run_ns = 0;
	while (is_after ? ++at < timeline->n : at-- > 0) {
		const struct tp_segment *segment = &timeline->segments[at];
		if (segment->state == TP_STATE_BLOCKED)
			return is_sleep(segment);
		if (segment->state == TP_STATE_ON_CPU)
			run_ns += segment->end_ns - segment->start_ns;
		if (run_ns > TP_POLL_LOOK_NS)
			break;
	}
	return false;
}

bool tp_poll_loop_is_sleep(const struct tp_timeline *timeline, const struct tp_segment *sleep)
{
	size_t at;
	TP_FIND_FIRST(at, 0, timeline->n, timeline->segments[at].end_ns > sleep->start_ns);
	return at < timeline->n && is_sleep(&timeline->segments[at]) &&
	       (has_adjacent(timeline, at, false) || has_adjacent(timeline, at, true));
}
