/* SPDX-License-Identifier: Apache-2.0 */
/* A call tree as indented lines: from the first function down, or from one function to its
 * callers. */
#include "view_stacks.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>

enum { NAME_SIZE = 160, ROWS_MAX = 4000, INDENT_MAX = 24 };

/* Minimum share of the whole for a branch to be drawn. */
static const double smallest_share = 0.005;

static void make(struct tp_view *view, struct tp_view_place *place)
{
	struct tp_view_calls *calls = tp_alloc(sizeof(*calls));
	tp_view_calls_make(calls, view, &place->selection, place->mode != TP_VIEW_TREE_DOWN,
			   place->mode == TP_VIEW_TREE_CALLERS ? place->function
							       : TP_VIEW_NO_FUNCTION);
	place->data = calls;
	place->n_items = calls->n;
	tp_view_calls_add_rows(calls, place, calls->nodes[0].child, 0,
			       (uint64_t)((double)calls->nodes[0].total_ns * smallest_share),
			       ROWS_MAX);
}

static void release(struct tp_view_place *place)
{
	if (place->data)
		tp_view_calls_release(place->data);
}

static void print_head(struct tp_view *view, struct tp_view_place *place, struct tp_page *page)
{
	static const char *const modes[] = {"Calls: ", "Innermost functions and their callers: ",
					    "Callers of "};
	char name[NAME_SIZE];
	struct tp_buf text = {0};
	tp_buf_puts(&text, modes[place->mode]);
	if (place->mode == TP_VIEW_TREE_CALLERS)
		tp_buf_printf(&text, "%s: ",
			      tp_view_function_name(&view->functions, place->function, name,
						    sizeof(name)));
	tp_view_add_selection(&text, view, &place->selection);
	tp_page_column(page, 1);
	tp_page_wrap(page, 1, TP_PAINT_NONE, tp_buf_text(&text), 2);
	tp_page_add(page, TP_PAINT_DIM, " total   self  function");
	tp_page_end(page);
	tp_buf_release(&text);
}

/* An only child is not indented further than its parent. */
static size_t indent_of(const struct tp_view_calls *calls, size_t item)
{
	size_t indent = 0;
	for (uint32_t at = calls->nodes[item].parent; at; at = calls->nodes[at].parent)
		if (calls->nodes[calls->nodes[at].child].next != TP_VIEW_NO_NODE)
			indent++;
	return indent < INDENT_MAX ? indent : INDENT_MAX;
}

static void print_row(struct tp_view *view, struct tp_view_place *place, size_t item,
		      struct tp_page *page)
{
	const struct tp_view_calls *calls = place->data;
	const struct tp_view_node *node = &calls->nodes[item];
	double whole = calls->nodes[0].total_ns ? (double)calls->nodes[0].total_ns : 1;
	char name[NAME_SIZE];
	struct tp_buf where = {0};
	tp_view_percent(page, (double)node->total_ns / whole);
	tp_page_add(page, TP_PAINT_NONE, "  ");
	if (node->self_ns)
		tp_view_percent(page, (double)node->self_ns / whole);
	size_t indent = 14 + indent_of(calls, item);
	tp_page_column(page, indent);
	tp_page_add(page, node->self_ns ? TP_PAINT_BOLD : TP_PAINT_NONE,
		    tp_view_function_name(&view->functions, node->function, name, sizeof(name)));
	tp_page_add(page, TP_PAINT_NONE, "  ");
	tp_view_add_function_place(&where, view, node->function, 0);
	if (tp_page_room(page) > 8)
		tp_page_add(page, TP_PAINT_DIM, tp_buf_text(&where));
	tp_page_end(page);
	tp_buf_release(&where);
}

static void open_row(struct tp_view *view, struct tp_view_place *place, size_t item)
{
	const struct tp_view_calls *calls = place->data;
	uint32_t function = calls->nodes[item].function;
	if (place->mode == TP_VIEW_TREE_CALLERS && function == place->function &&
	    tp_view_function_frame(&view->functions, function)->kind != TP_FRAME_PYTHON) {
		tp_view_show_message(view, "Only Python has source lines in recordings.");
		return;
	}
	tp_view_open_function(view, &place->selection, function, 0);
}

const struct tp_view_screen tp_view_tree = {
	.id = TP_SCREEN_TREE,
	.name = "calls",
	.make = make,
	.print_head = print_head,
	.print_row = print_row,
	.open = open_row,
	.release = release,
};
