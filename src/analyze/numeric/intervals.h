/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exact partition: every instant of a window gets the first active lane.
 *
 * Integer ns. Exposed times of all parts, with the rest given to the fallback part, sum to the
 * window. Definitions: exposed = what the partition gives a part; total = union of its lanes;
 * hidden = total - exposed; solo = instants at which no other part is active.
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

/* A growing list of them; zero-initialised is empty. Heap, freed by its owner. */
struct tp_intervals {
	struct tp_interval *items;
	size_t n;
	size_t capacity;
};

/* Append; one that begins in or at the end of the last one makes that longer, so that a list filled
 * in order of starts is its own union. */
void tp_intervals_add(struct tp_intervals *list, uint64_t start_ns, uint64_t end_ns);
/* Ascending, disjoint, none empty, none touching the next: sorts only what is not in order. */
void tp_intervals_merge(struct tp_intervals *list);
uint64_t tp_intervals_sum(const struct tp_intervals *list);
/* What of [from, to) the list covers; it is a union. */
uint64_t tp_intervals_covered(const struct tp_intervals *list, uint64_t from_ns, uint64_t to_ns);

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

enum { TP_MAX_LANES = 32, TP_NO_LANE = -1 };

/* A stretch of a window in which the same lanes are active. */
struct tp_lane_slice {
	uint64_t start_ns;
	uint64_t end_ns;
	size_t window;   /* index */
	int exposed;     /* lane that the stretch is given to; TP_NO_LANE: the rest */
	uint32_t active; /* bit of each active lane */
};

typedef void tp_lane_callback(void *context, const struct tp_lane_slice *piece);

/*
 * Hand over the windows piece by piece, in time order, without holes.
 *
 * lanes    in order of priority, at most TP_MAX_LANES.
 * windows  disjoint, ascending.
 * O(n) for lanes that are unions already (tp_intervals_merge()), else O(n log n).
 */
void tp_lanes_sweep(const struct tp_lane *lanes, size_t n_lanes, const struct tp_interval *windows,
		    size_t n_windows, tp_lane_callback *put, void *context);

/* The times summed over all windows; `rest` is the part that instants without a foreground lane
 * belong to. */
void tp_lanes_partition(struct tp_lane_times *out, const struct tp_lane *lanes, size_t n_lanes,
			const struct tp_interval *windows, size_t n_windows, enum tp_part rest);

#endif
