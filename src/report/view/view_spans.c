/* SPDX-License-Identifier: Apache-2.0 */
/* Sums the time of the threads of an imported trace by the spans that they recorded. */
#include "view_spans.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>

enum { DEPTH_MAX = 512 };

struct open_span {
	uint32_t name;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t inner_ns; /* time in spans within it */
};

struct span_sums {
	struct open_span open[DEPTH_MAX];
	size_t depth;
	struct tp_view_span_cost *by_name;
};

static void close_last(struct span_sums *sums)
{
	const struct open_span *span = &sums->open[--sums->depth];
	uint64_t length_ns = span->end_ns - span->start_ns;
	uint64_t own_ns = length_ns > span->inner_ns ? length_ns - span->inner_ns : 0;
	sums->by_name[span->name].own_ns += own_ns;
	sums->by_name[span->name].n++;
	if (sums->depth)
		sums->open[sums->depth - 1].inner_ns += length_ns;
}

/* Enclosing spans come before the spans within them; a span that overlaps otherwise is cut. */
static void add_span(struct span_sums *sums, uint32_t name, uint64_t start_ns, uint64_t end_ns)
{
	while (sums->depth && sums->open[sums->depth - 1].end_ns <= start_ns)
		close_last(sums);
	if (sums->depth && end_ns > sums->open[sums->depth - 1].end_ns)
		end_ns = sums->open[sums->depth - 1].end_ns;
	if (sums->depth < DEPTH_MAX)
		sums->open[sums->depth++] = (struct open_span){name, start_ns, end_ns, 0};
}

static void add_track(struct span_sums *sums, const struct tp_profile *profile,
		      const struct tp_track_spans *spans)
{
	for (size_t i = 0; i < spans->n; i++) {
		const struct tp_span *span = &spans->items[i];
		uint64_t start_ns = span->start_ns;
		uint64_t end_ns = span->end_ns;
		if (start_ns < profile->window_start_ns)
			start_ns = profile->window_start_ns;
		if (end_ns > profile->window_end_ns)
			end_ns = profile->window_end_ns;
		if (start_ns < end_ns)
			add_span(sums, span->name, start_ns, end_ns);
	}
	while (sums->depth)
		close_last(sums);
}

static int compare_costs(const void *a, const void *b)
{
	const struct tp_view_span_cost *x = a;
	const struct tp_view_span_cost *y = b;
	if (x->own_ns != y->own_ns)
		return x->own_ns < y->own_ns ? 1 : -1;
	return (x->name > y->name) - (x->name < y->name);
}

struct tp_view_span_cost *tp_view_span_costs(const struct tp_profile *profile, size_t *n,
					     uint64_t *all_ns)
{
	const struct tp_trace *trace = profile->trace;
	struct span_sums *sums = tp_alloc(sizeof(*sums));
	sums->by_name = tp_alloc((trace->n_strings + 1) * sizeof(*sums->by_name));
	for (size_t i = 0; i < trace->n_tracks; i++)
		if (trace->tracks[i].device == TP_TRACK_THREAD)
			add_track(sums, profile, &trace->spans[i]);
	*n = 0;
	*all_ns = 0;
	for (uint32_t i = 0; i < trace->n_strings; i++) {
		struct tp_view_span_cost cost = sums->by_name[i];
		if (!cost.own_ns)
			continue;
		cost.name = i;
		*all_ns += cost.own_ns;
		sums->by_name[(*n)++] = cost;
	}
	struct tp_view_span_cost *costs = sums->by_name;
	free(sums);
	if (*n)
		qsort(costs, *n, sizeof(*costs), compare_costs);
	return costs;
}
