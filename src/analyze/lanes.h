/*
 * The exact partition: every instant of a window gets the first active lane.
 *
 * Integer ns. Exposed times of all parts, with the rest given to the fallback part, sum to the
 * window. Definitions: exposed = what the partition gives a part; total = union of its lanes;
 * hidden = total - exposed; solo = instants at which no other part is active.
 */
#ifndef TRAINPROF_SRC_ANALYZE_LANES_H
#define TRAINPROF_SRC_ANALYZE_LANES_H

#include "trainprof/base/arena.h"
#include "trainprof/model/part.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Half-open [start, end). */
struct tp_interval {
	uint64_t start_ns;
	uint64_t end_ns;
};

struct tp_lane {
	enum tp_part part;
	/* Counts for total and solo, never for exposed: work that goes on elsewhere. */
	bool is_background;
	const struct tp_interval *intervals; /* any order, may overlap */
	size_t n;
};

struct tp_lane_times {
	uint64_t exposed_ns[TP_N_PARTS];
	uint64_t total_ns[TP_N_PARTS];
	uint64_t solo_ns[TP_N_PARTS];
	uint64_t window_ns; /* sum of exposed, always */
};

enum { TP_MAX_LANES = 32 };

/*
 * lanes    in order of priority, at most TP_MAX_LANES.
 * windows  disjoint, ascending; the times are sums over all of them.
 * rest     the part that instants without a foreground lane belong to.
 * O(n log n) in the number of intervals.
 */
void tp_lanes_partition(struct tp_lane_times *out, const struct tp_lane *lanes, size_t n_lanes,
			const struct tp_interval *windows, size_t n_windows, enum tp_part rest);

#endif
