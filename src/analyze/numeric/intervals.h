/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact partition of time: every instant of a window is assigned to the first active lane.
 *
 * All times are integer ns. The exposed times of all parts, with the rest assigned to the fallback
 * part, sum to the window. Definitions: exposed = time that the partition assigns to a part; total
 * = union of its lanes; hidden = total - exposed; solo = time in which no other part is active.
 */
#ifndef TRAINPROF_SRC_ANALYZE_NUMERIC_INTERVALS_H
#define TRAINPROF_SRC_ANALYZE_NUMERIC_INTERVALS_H

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

/* A growing list of intervals; zero-initialised is empty. Heap, freed by its owner. */
struct tp_intervals {
	struct tp_interval *items;
	size_t n;
	size_t capacity;
};

/* Appends an interval. One that begins inside or at the end of the last one extends it instead, so
 * a list that is filled in order of starts is its own union. */
void tp_intervals_add(struct tp_intervals *list, uint64_t start_ns, uint64_t end_ns);
/* Makes the list ascending and disjoint, without empty or adjacent intervals. Sorts only if it is
 * out of order. */
void tp_intervals_merge(struct tp_intervals *list);
uint64_t tp_intervals_sum(const struct tp_intervals *list);
/* Returns how much of [from, to) the list covers; the list must be a union. */
uint64_t tp_intervals_covered(const struct tp_intervals *list, uint64_t from_ns, uint64_t to_ns);

struct tp_lane {
	enum tp_part part;
	/* Counts for total and solo, never for exposed: work that runs elsewhere. */
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

enum { TP_MAX_LANES = 32, TP_NO_LANE = -1 };

/* A period of a window in which the same lanes are active. */
struct tp_lane_slice {
	uint64_t start_ns;
	uint64_t end_ns;
	size_t window;   /* index */
	int exposed;     /* lane to which the period is assigned; TP_NO_LANE = the rest */
	uint32_t active; /* one bit per active lane */
};

typedef void tp_lane_callback(void *context, const struct tp_lane_slice *piece);

/*
 * Emits the windows as slices, in time order and without gaps.
 *
 * lanes    in order of priority, at most TP_MAX_LANES.
 * windows  disjoint, ascending. O(n) for lanes that are unions already (tp_intervals_merge()), else
 * O(n log n).
 */
void tp_lanes_sweep(const struct tp_lane *lanes, size_t n_lanes, const struct tp_interval *windows,
		    size_t n_windows, tp_lane_callback *put, void *context);

/* Sums the times over all windows; `rest` is the part to which instants without a foreground lane
 * belong. */
void tp_lanes_partition(struct tp_lane_times *out, const struct tp_lane *lanes, size_t n_lanes,
			const struct tp_interval *windows, size_t n_windows, enum tp_part rest);

#endif
