/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a call tree of the selected stacks. */
#include "view_stacks.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <stdlib.h>

/* Deeper frames of recursive Python programs are not drawn. */
enum { DEPTH_MAX = 200 };

static uint32_t child_of(struct tp_view_calls *calls, struct tp_map *known, uint32_t parent,
			 uint32_t function)
{
	uint64_t key = (uint64_t)parent << 32 | function;
	uint64_t at;
	if (tp_map_get(known, key, &at))
		return (uint32_t)at;
	at = calls->n;
	tp_map_set(known, key, at);
	TP_ARRAY_PUSH(calls->nodes, calls->n, calls->capacity) =
		(struct tp_view_node){.function = function,
				      .parent = parent,
				      .child = TP_VIEW_NO_NODE,
				      .next = calls->nodes[parent].child,
				      .depth = calls->nodes[parent].depth + 1};
	calls->nodes[parent].child = (uint32_t)at;
	return (uint32_t)at;
}

/* Writes the functions of a stack in the order of the tree; returns their number. */
static size_t path_of(uint32_t *out, const struct tp_view *view, const uint32_t *frames,
		      uint32_t n_frames, bool is_inverted, uint32_t function)
{
	const uint32_t *of_frame = view->functions.of_frame;
	uint32_t first = 0;
	size_t n = 0;
	while (function != TP_VIEW_NO_FUNCTION && first < n_frames &&
	       of_frame[frames[first]] != function)
		first++;
	for (uint32_t i = first; i < n_frames && n < DEPTH_MAX; i++)
		out[n++] = of_frame[frames[is_inverted ? i : n_frames - 1 - (i - first)]];
	return n;
}

static void add_stack(struct tp_view_calls *calls, struct tp_map *known, const struct tp_view *view,
		      const struct tp_view_selection *selection, const struct tp_hot_stack *hot,
		      bool is_inverted, uint32_t function)
{
	uint32_t path[DEPTH_MAX];
	uint32_t room[TP_STACK_MAX_FRAMES];
	uint32_t n_frames;
	const uint32_t *frames =
		tp_view_frames(&view->functions, selection, tp_trace_stack(view->trace, hot->stack),
			       room, &n_frames);
	size_t n = path_of(path, view, frames, n_frames, is_inverted, function);
	uint32_t at = 0;
	if (!n)
		return;
	calls->nodes[0].total_ns += hot->time_ns;
	for (size_t i = 0; i < n; i++) {
		at = child_of(calls, known, at, path[i]);
		calls->nodes[at].total_ns += hot->time_ns;
	}
	calls->nodes[at].self_ns += hot->time_ns;
}

/* ---- order ---- */

struct by_time {
	uint64_t total_ns;
	uint32_t node;
};

static int compare_times(const void *a, const void *b)
{
	const struct by_time *x = a;
	const struct by_time *y = b;
	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? 1 : -1;
	return (x->node < y->node) - (x->node > y->node);
}

/* Goes through all nodes by ascending time and inserts each before its siblings, so that the
 * largest is first. */
static void sort_children(struct tp_view_calls *calls)
{
	struct by_time *order = tp_alloc((calls->n + 1) * sizeof(*order));
	for (uint32_t i = 0; i < calls->n; i++) {
		order[i] = (struct by_time){calls->nodes[i].total_ns, i};
		calls->nodes[i].child = TP_VIEW_NO_NODE;
	}
	qsort(order, calls->n, sizeof(*order), compare_times);
	for (size_t i = 0; i < calls->n; i++) {
		uint32_t node = order[i].node;
		if (!node)
			continue;
		struct tp_view_node *parent = &calls->nodes[calls->nodes[node].parent];
		calls->nodes[node].next = parent->child;
		parent->child = node;
	}
	free(order);
}

void tp_view_calls_make(struct tp_view_calls *calls, const struct tp_view *view,
			const struct tp_view_selection *selection, bool is_inverted,
			uint32_t function)
{
	struct tp_map known = {0};
	*calls = (struct tp_view_calls){0};
	TP_ARRAY_PUSH(calls->nodes, calls->n, calls->capacity) =
		(struct tp_view_node){.function = TP_VIEW_NO_FUNCTION,
				      .child = TP_VIEW_NO_NODE,
				      .next = TP_VIEW_NO_NODE};
	for (size_t i = 0; i < view->profile->n_hot; i++)
		if (tp_view_is_selected(&view->functions, selection, &view->profile->hot[i]))
			add_stack(calls, &known, view, selection, &view->profile->hot[i],
				  is_inverted, function);
	tp_map_release(&known);
	sort_children(calls);
}

void tp_view_calls_release(struct tp_view_calls *calls)
{
	free(calls->nodes);
	*calls = (struct tp_view_calls){0};
}

void tp_view_calls_add_rows(const struct tp_view_calls *calls, struct tp_view_place *place,
			    uint32_t at, uint32_t top, uint64_t least_ns, size_t rows_max)
{
	place->rows = tp_alloc((calls->n + 1) * sizeof(*place->rows));
	place->n_rows = 0;
	while (at != TP_VIEW_NO_NODE && place->n_rows < rows_max) {
		const struct tp_view_node *node = &calls->nodes[at];
		bool is_shown = node->total_ns > least_ns;
		if (is_shown)
			place->rows[place->n_rows++] = at;
		if (is_shown && node->child != TP_VIEW_NO_NODE) {
			at = node->child;
			continue;
		}
		while (at != top && calls->nodes[at].next == TP_VIEW_NO_NODE)
			at = calls->nodes[at].parent;
		if (at == top)
			return;
		at = calls->nodes[at].next;
	}
}
