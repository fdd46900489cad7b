/* SPDX-License-Identifier: Apache-2.0 */
/* A flame graph made of cells: the first function is at the top, widths are times. */
#include "view_stacks.h"

#include "trainprof/base/memory.h"

#include <stdio.h>
#include <stdlib.h>

enum { NAME_SIZE = 160, ROWS_MAX = 2000, DETAIL = 4 };

/* Rows are the nodes in depth-first order, so that the arrow keys reach all of them. */
static void make(struct tp_view *view, struct tp_view_place *place)
{
	struct tp_view_calls *calls = tp_alloc(sizeof(*calls));
	tp_view_calls_make(calls, view, &place->selection, false, TP_VIEW_NO_FUNCTION);
	place->data = calls;
	place->n_items = calls->n;
	uint32_t zoomed = place->index < calls->n ? (uint32_t)place->index : 0;
	tp_view_calls_add_rows(calls, place, zoomed ? zoomed : calls->nodes[0].child, zoomed,
			       calls->nodes[0].total_ns / 400, ROWS_MAX);
}

static void release(struct tp_view_place *place)
{
	if (place->data)
		tp_view_calls_release(place->data);
}

/* A node of the zoomed part begins at the end of its previous siblings. */
static double begin_of(const struct tp_view_calls *calls, uint32_t node, uint32_t root)
{
	double begin = 0;
	while (node != root && node) {
		const struct tp_view_node *parent = &calls->nodes[calls->nodes[node].parent];
		for (uint32_t at = parent->child; at != node; at = calls->nodes[at].next)
			begin += (double)calls->nodes[at].total_ns;
		node = calls->nodes[node].parent;
	}
	return begin;
}

static void draw_box(struct tp_view *view, struct tp_grid *grid, size_t line,
		     const struct tp_view_node *node, double begin, double whole, bool is_selected)
{
	char name[NAME_SIZE];
	char text[NAME_SIZE + 16];
	double columns = (double)grid->columns / whole;
	size_t first = (size_t)(begin * columns + 0.5);
	size_t end = (size_t)((begin + (double)node->total_ns) * columns + 0.5);
	if (first >= end)
		return;
	tp_view_function_name(&view->functions, node->function, name, sizeof(name));
	snprintf(text, sizeof(text), "|%s",
		 tp_view_function_name(&view->functions, node->function, name, sizeof(name)));
	for (size_t i = first; i < end; i++)
		tp_grid_put(grid, line, i, i + 1, TP_PAINT_NONE, i == first ? "|" : " ");
	size_t at =
		tp_grid_put(grid, line, first, end, node->self_ns ? TP_PAINT_BOLD : TP_PAINT_NONE,
			    end - first > 2 ? text : "|");
	snprintf(text, sizeof(text), " %.0f%%", (double)node->total_ns / whole * 100);
	if (end - at > 5)
		tp_grid_put(grid, line, end - 5, end, TP_PAINT_DIM, text);
	if (is_selected)
		tp_grid_select(grid, line, first, end);
}

static void draw_text(struct tp_view *view, struct tp_view_place *place, struct tp_grid *grid,
		      size_t line, uint32_t node)
{
	const struct tp_view_calls *calls = place->data;
	struct tp_buf text = {0};
	char name[NAME_SIZE];
	double whole = calls->nodes[0].total_ns ? (double)calls->nodes[0].total_ns : 1;
	const struct tp_view_node *at = &calls->nodes[node];
	tp_buf_printf(&text, " %s  ",
		      tp_view_function_name(&view->functions, at->function, name, sizeof(name)));
	tp_view_add_function_place(&text, view, at->function, 0);
	tp_grid_put(grid, line, 0, grid->columns, TP_PAINT_BOLD, tp_buf_text(&text));
	tp_buf_clear(&text);
	tp_buf_printf(&text, " total %s (%s), ", tp_unit_time((double)at->total_ns).text,
		      tp_unit_percent((double)at->total_ns / whole).text);
	tp_buf_printf(&text, "self %s", tp_unit_time((double)at->self_ns).text);
	tp_grid_put(grid, line + 1, 0, grid->columns, TP_PAINT_NONE, tp_buf_text(&text));
	tp_buf_release(&text);
}

static void draw(struct tp_view *view, struct tp_view_place *place, struct tp_grid *grid,
		 size_t line, size_t n)
{
	const struct tp_view_calls *calls = place->data;
	struct tp_buf text = {0};
	tp_view_add_selection(&text, view, &place->selection);
	tp_grid_put(grid, line, 1, grid->columns, TP_PAINT_NONE, tp_buf_text(&text));
	tp_buf_release(&text);
	view->row_lines = 8;
	if (!place->n_rows || n < DETAIL + 2) {
		tp_grid_put(grid, line + 1, 1, grid->columns, TP_PAINT_DIM,
			    "No stacks were recorded for this.");
		return;
	}
	uint32_t root = place->index ? (uint32_t)place->index : 0;
	double whole = (double)calls->nodes[root].total_ns;
	uint32_t top = root ? calls->nodes[root].depth : 1;
	uint32_t selected = (uint32_t)tp_view_cursor_item(place);
	size_t n_levels = n - 1 - DETAIL;
	/* Callers of the selected node stay visible as far as there is room. */
	uint32_t level = calls->nodes[selected].depth - top;
	size_t skipped = level >= n_levels ? level - n_levels + 1 : 0;
	for (size_t i = 0; i < place->n_rows; i++) {
		const struct tp_view_node *node = &calls->nodes[place->rows[i]];
		size_t at = node->depth - top;
		if (at < skipped || at - skipped >= n_levels)
			continue;
		draw_box(view, grid, line + 1 + at - skipped, node,
			 begin_of(calls, (uint32_t)place->rows[i], root), whole,
			 place->rows[i] == selected);
	}
	draw_text(view, place, grid, line + n - DETAIL + 1, selected);
}

/* Enter: the function fills the screen; Enter again: its source. */
static void open_node(struct tp_view *view, struct tp_view_place *place, size_t item)
{
	const struct tp_view_calls *calls = place->data;
	if (item == SIZE_MAX)
		return;
	if (place->index == item) {
		tp_view_open_function(view, &place->selection, calls->nodes[item].function, 0);
		return;
	}
	const struct tp_view_selection selection = place->selection;
	struct tp_view_place *next = tp_view_push(view, TP_SCREEN_FLAME);
	next->selection = selection;
	next->index = item;
	tp_view_make_rows(view, next);
}

const struct tp_view_screen tp_view_flame = {
	.id = TP_SCREEN_FLAME,
	.name = "flame",
	.make = make,
	.draw = draw,
	.open = open_node,
	.release = release,
};
