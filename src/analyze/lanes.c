/* Sweeps lanes and windows once, in time order. */
#include "lanes.h"

#include "trainprof/base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct edge {
	uint64_t time_ns;
	uint32_t lane; /* n_lanes = the window */
	int by;
};

static int edge_order(const void *a, const void *b)
{
	uint64_t x = ((const struct edge *)a)->time_ns;
	uint64_t y = ((const struct edge *)b)->time_ns;
	return (x > y) - (x < y);
}

struct edges {
	struct edge *items;
	size_t n;
};

static void add_intervals(struct edges *edges, uint32_t lane, const struct tp_interval *intervals,
			  size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (intervals[i].end_ns <= intervals[i].start_ns)
			continue;
		edges->items[edges->n++] = (struct edge){intervals[i].start_ns, lane, 1};
		edges->items[edges->n++] = (struct edge){intervals[i].end_ns, lane, -1};
	}
}

/* Give `length` to the parts, as the active lanes say. */
static void give(struct tp_lane_times *out, const struct tp_lane *lanes, size_t n_lanes,
		 const int *open, uint64_t length, enum tp_part rest)
{
	bool is_active[TP_N_PARTS] = {false};
	int n_active = 0;
	int exposed = -1;
	for (size_t i = 0; i < n_lanes; i++) {
		if (open[i] <= 0)
			continue;
		n_active += !is_active[lanes[i].part];
		is_active[lanes[i].part] = true;
		if (exposed < 0 && !lanes[i].is_background)
			exposed = (int)lanes[i].part;
	}
	if (exposed < 0) {
		exposed = (int)rest;
		n_active += !is_active[rest];
		is_active[rest] = true;
	}
	out->exposed_ns[exposed] += length;
	out->window_ns += length;
	for (int part = 0; part < TP_N_PARTS; part++) {
		if (!is_active[part])
			continue;
		out->total_ns[part] += length;
		if (n_active == 1)
			out->solo_ns[part] += length;
	}
}

void tp_lanes_partition(struct tp_lane_times *out, const struct tp_lane *lanes, size_t n_lanes,
			const struct tp_interval *windows, size_t n_windows, enum tp_part rest)
{
	assert(n_lanes <= TP_MAX_LANES);
	*out = (struct tp_lane_times){0};
	size_t n = n_windows;
	for (size_t i = 0; i < n_lanes; i++)
		n += lanes[i].n;
	struct edges edges = {.items = tp_alloc(n * 2 * sizeof(*edges.items))};
	for (size_t i = 0; i < n_lanes; i++)
		add_intervals(&edges, (uint32_t)i, lanes[i].intervals, lanes[i].n);
	add_intervals(&edges, (uint32_t)n_lanes, windows, n_windows);
	qsort(edges.items, edges.n, sizeof(*edges.items), edge_order);
	int open[TP_MAX_LANES + 1] = {0};
	uint64_t at = 0;
	for (size_t i = 0; i < edges.n; i++) {
		const struct edge *edge = &edges.items[i];
		if (edge->time_ns > at && open[n_lanes] > 0)
			give(out, lanes, n_lanes, open, edge->time_ns - at, rest);
		at = edge->time_ns;
		open[edge->lane] += edge->by;
	}
	free(edges.items);
}
